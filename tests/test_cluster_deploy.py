"""The files with which a cluster is deployed: as far as one machine can check them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from crivello.cluster.engine import MACHINE

yaml = pytest.importorskip("yaml")  # comes with Ray
DOCS = Path(__file__).parent.parent / "docs"


def test_the_file_for_ray_up_is_what_its_schema_asks_for() -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = yaml.safe_load((DOCS / "cluster" / "ray.yaml").read_text())
    prepared = prepare_config(dict(config))
    validate_config(prepared)
    assert prepared["max_workers"] == len(config["provider"]["worker_ips"]) == 2
    commands = [*config["head_start_ray_commands"], *config["worker_start_ray_commands"]]
    assert sum("ray start --head" in command for command in commands) == 1
    assert any("crivello[cluster]" in command for command in config["setup_commands"])


def test_the_manifest_for_kuberay_gives_every_machine_a_name_and_a_disk() -> None:
    documents = list(yaml.safe_load_all((DOCS / "cluster" / "kuberay.yaml").read_text()))
    claims = {each["metadata"]["name"] for each in documents if each["kind"] == "PersistentVolumeClaim"}
    [cluster] = [each for each in documents if each["kind"] == "RayCluster"]
    assert cluster["apiVersion"] == "ray.io/v1"
    head, workers = cluster["spec"]["headGroupSpec"], cluster["spec"]["workerGroupSpecs"]
    used = [_claim(group) for group in (head, *workers)]
    assert set(used) == claims and len(used) == len(claims)
    for group in (head, *workers):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
    for worker in workers:
        assert worker["replicas"] == worker["minReplicas"] == worker["maxReplicas"] == 1
        assert worker["rayStartParams"]["labels"] == f"{MACHINE}={worker['groupName']}"
    names = [worker["groupName"] for worker in workers]
    assert len(set(names)) == len(names)


def _claim(group: dict[str, Any]) -> str:
    """The claim of the volume that is mounted where the collection is."""
    spec = group["template"]["spec"]
    [container] = spec["containers"]
    [mount] = container["volumeMounts"]
    [volume] = spec["volumes"]
    assert mount["name"] == volume["name"] and mount["mountPath"] == "/data"
    claim: str = volume["persistentVolumeClaim"]["claimName"]
    return claim


def test_the_commands_of_the_page_are_those_that_ray_knows() -> None:
    from ray.scripts.scripts import start

    page = (DOCS / "cluster.md").read_text()
    known = {name for parameter in start.params for name in parameter.opts}
    commands = re.findall(r"^ray start (.*)$", page, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        flags = {flag.split("=")[0] for flag in command.split() if flag.startswith("--")}
        assert flags <= known and f"{MACHINE}=" in command

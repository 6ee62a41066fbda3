"""Private: many agents that divide the web among them, on Ray (extra ``crivello[cluster]``).

An agent is today's crawler with a collection of its own. What they have in common:

    roster     who the agents are, in ``cluster.json``
    register   where agents renew their right to fetch; a named actor
    supervise  what should happen next: who is a member, whether the crawl is over
    agent      the actor that crawls, and hands URLs that are not its own to their owners
    driver     starts the actors, shows progress, passes on Ctrl-C
    engine     Ray itself, started on this machine or joined
    view       the collection of a cluster, used like any other
    gather     the pages of all agents in one collection; ``cluster merge``
    status     how the crawl stands, agent by agent

Only ``engine`` imports Ray, and only when a crawl begins or is stopped: everything else works without it.
"""

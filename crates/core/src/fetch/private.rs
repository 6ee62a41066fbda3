//! Whether a crawl starts on a private network.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use super::failure::Class;
use super::names::Names;
use super::origin::Origin;
use crate::{Error, Result};

/// Of a long list of seeds the first hosts speak for all: each may take a name server seconds.
const LOOKED_AT: usize = 16;
const LIMIT: Duration = Duration::from_secs(10);

/// Whether the host of any of the first URLs has only addresses of a private network; `None` if no host has an
/// address. Names are those of the given hosts file, or else as the system has them.
pub fn any_is_private(urls: &[String], hosts_file: Option<&Path>) -> Result<Option<bool>> {
    let mut seen = HashSet::new();
    let hosts = urls.iter().filter_map(|url| Origin::of(url)).map(|origin| origin.host);
    let hosts = hosts.filter(|host| seen.insert(host.clone())).take(LOOKED_AT);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::io("the runtime"))?.block_on(async {
        let names = Names::new(hosts_file, None, false, LIMIT)?;
        let mut found = None;
        for host in hosts {
            match names.resolve(&host).await {
                Ok(_) => found = Some(false),
                Err(failure) if failure.class == Class::Private => return Ok(Some(true)),
                Err(_) => {}
            }
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_of_the_file_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let hosts = folder.path().join("hosts");
        std::fs::write(&hosts, "127.0.0.1 private.test\n9.9.9.9 public.test both.test\n10.0.0.1 both.test\n")
            .unwrap();
        let private = |urls: &[&str]| {
            let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
            any_is_private(&urls, Some(&hosts)).unwrap()
        };
        for address in ["127.0.0.1", "10.0.0.1", "[::1]", "169.254.1.1", "[::ffff:10.0.0.1]", "100.64.0.1"] {
            assert_eq!(private(&[&format!("http://{address}:8080/x")]), Some(true), "{address}");
        }
        for address in ["9.9.9.9", "[2620:fe::fe]", "public.test", "both.test"] {
            assert_eq!(private(&[&format!("https://{address}/")]), Some(false), "{address}");
        }
        assert_eq!(private(&["http://public.test/", "http://private.test/"]), Some(true));
        assert_eq!(private(&["mailto:nobody"]), None);
        assert!(any_is_private(&[], Some(&folder.path().join("missing"))).is_err());
    }
}

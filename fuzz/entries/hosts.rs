//! What the fuzz target does with events and settings of hosts. The tests replay the seeds through the same.

use shward_hosts::claude;

/// Reads an event; installs into settings and takes it out again, which leaves them as they were.
pub(crate) fn wire(data: &[u8]) {
    let _ = claude::question(data);
    if let Ok(settings) = serde_json::from_slice::<serde_json::Value>(data) {
        let mut changed = settings.clone();
        if claude::install(&mut changed, "/usr/bin/shward").is_ok_and(|changed| changed) {
            assert_ne!(settings, changed);
            let _ = claude::uninstall(&mut changed);
        }
    }
}

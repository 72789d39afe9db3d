//! What those who build on the library rely on beside its behaviour.

use shward::{
    Batch, Cancel, Checked, Error, Firewall, Outcome, OutputEvents, Policy, PolicyError, PolicyPlaces,
    Request, RunEvent, RunOptions, Sessions, Tool, Undoing, audit, reviewing,
};

/// Firewalls, and what goes into them and comes out, go from thread to thread and are used by several at once.
#[test]
fn threads_may_share_it() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Firewall>();
    shared::<Policy>();
    shared::<PolicyPlaces>();
    shared::<Request>();
    shared::<RunOptions>();
    shared::<Cancel>();
    shared::<Checked>();
    shared::<Outcome>();
    shared::<Error>();
    shared::<PolicyError>();
    shared::<RunEvent>();
    shared::<Sessions>();
    shared::<Undoing>();
    shared::<Tool>();
    shared::<audit::Log>();
    shared::<reviewing::Asks>();
    sent::<OutputEvents>();
    sent::<Batch<'_>>();
}

/// An error can be passed on as others are: boxed, to another thread, and asked for what it is.
#[test]
fn errors_are_errors() {
    fn passed_on(
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Box<dyn std::error::Error + Send + Sync> {
        error.into()
    }
    let firewall = Firewall::new(Policy::default());
    let request = Request::argv(["ls"], "not/absolute", "/home/dev");
    let error = firewall.check(&request, &shward::Setting::frozen()).map(|_| ()).map_err(passed_on);
    let error = error.err().and_then(|error| error.downcast::<Error>().ok());
    assert!(matches!(error.as_deref(), Some(Error::BadRequest(shward::BadRequest::NotAbsolute { .. }))));
}

//! How a request goes on from where the calls of its session before it ended, and what is kept for the next.

use crate::sessions::{All, MAX_BYTES, MAX_VARIABLES, Telling, Told, Variables, is_kept};
use crate::{Action, Error, Firewall, Request, Session, Sessions};
use shward_policy::settings::EnvironmentPolicy;
use std::collections::HashSet;
use std::io;

impl Firewall {
    /// Remembers where the commands of a session end, and goes on from there.
    #[must_use]
    pub fn with_sessions(mut self, sessions: Sessions) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// The request and its environment as the session goes on. A request that names another directory than its workspace starts
    /// there.
    pub(crate) fn resumed(&self, request: Request, environment: &mut Vec<(Vec<u8>, Vec<u8>)>) -> Request {
        let known = self.sessions.as_ref().zip(request.session.as_deref());
        let Some(session) = known.and_then(|(sessions, name)| sessions.find(name)) else { return request };
        if session.workspace != request.workspace {
            return request;
        }
        for (name, value) in session.variables.iter().filter(|(name, _)| self.lets_pass(name)) {
            environment.retain(|(known, _)| known != name.as_bytes());
            environment.push((name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        }
        let inside = session.cwd.canonicalize().ok().filter(|cwd| cwd.starts_with(&request.workspace));
        match inside {
            Some(cwd) if request.cwd == request.workspace && cwd.is_dir() => Request { cwd, ..request },
            _ => request,
        }
    }

    /// Whether the policy lets a run have this variable.
    fn lets_pass(&self, name: &str) -> bool {
        let permits = |settings: &shward_policy::Settings| {
            let fixed = settings.environment_set.iter().flat_map(|set| &set.value);
            if fixed.clone().any(|(fixed, _)| fixed == name) {
                return false;
            }
            match settings.environment.as_ref().map(|set| set.value) {
                None | Some(EnvironmentPolicy::Basic) => true,
                Some(EnvironmentPolicy::Empty | EnvironmentPolicy::Locale) => false,
                Some(EnvironmentPolicy::Listed) => settings
                    .environment_allow
                    .as_ref()
                    .is_some_and(|set| set.value.iter().any(|listed| listed == name)),
            }
        };
        is_kept(name) && self.policy().all_settings().all(permits)
    }

    /// What a run of a session needs to tell how it ended; `None` for requests without a session or without a shell.
    pub(crate) fn telling(&self, request: &Request) -> Result<Option<Telling>, Error> {
        match (&self.sessions, &request.session, &request.action) {
            (Some(_), Some(_), Action::Command(_)) => Telling::new().map(Some).map_err(Error::Session),
            _ => Ok(None),
        }
    }

    /// Remembers how a run of a session ended. What the shell did not tell, because it was killed or replaced, leaves the
    /// session as it is; so does what it told only a part of, as far as that part does not say otherwise.
    pub(crate) fn remember(
        &self,
        request: &Request,
        environment: &[(Vec<u8>, Vec<u8>)],
        telling: &mut Telling,
    ) -> io::Result<()> {
        let (Some(sessions), Some(name)) = (&self.sessions, &request.session) else { return Ok(()) };
        let (cwd, told, all) = match telling.told()? {
            Told::Nothing => return Ok(()),
            Told::Other => {
                let why =
                    "something else was written where its shell tells how it ends; it stays as it was before";
                return Err(io::Error::other(why));
            }
            Told::Ended { cwd, variables, all } => (cwd, variables, all),
        };
        let inside = cwd.canonicalize().ok().filter(|cwd| cwd.starts_with(&request.workspace));
        let before = sessions.find(name).filter(|session| session.workspace == request.workspace);
        let session_had =
            |name: &str| before.iter().flat_map(|session| &session.variables).any(|(known, _)| known == name);
        let (mut bytes, mut count, mut fit) = (0, 0, true);
        let names: HashSet<String> = told.iter().map(|(name, _)| name.clone()).collect();
        let untold = before.iter().flat_map(|session| &session.variables);
        let untold = untold.filter(|(name, _)| all != All::Yes && !names.contains(name)).cloned();
        let told = told.into_iter().filter(|(name, value)| {
            let given = environment.iter().any(|(n, v)| n == name.as_bytes() && v == value.as_bytes());
            self.lets_pass(name) && (!given || session_had(name))
        });
        let mut variables: Variables = untold
            .chain(told)
            .take_while(|(name, value)| {
                bytes += name.len() + value.len();
                count += 1;
                let fits = bytes <= MAX_BYTES && count <= MAX_VARIABLES;
                fit &= fits;
                fits
            })
            .collect();
        variables.sort();
        sessions.write(&Session {
            v: 1,
            name: name.clone(),
            workspace: request.workspace.clone(),
            cwd: inside.unwrap_or_else(|| request.workspace.clone()),
            variables,
        })?;
        if all == All::Yes && fit {
            return Ok(());
        }
        if all == All::Cut && fit {
            return Err(io::Error::other(
                "its shell told only a part of its variables; those of which it told nothing are as they were before",
            ));
        }
        Err(io::Error::other(format!(
            "it has more variables than {MAX_VARIABLES}, or more than {MAX_BYTES} bytes in them, and the others are not kept; unset \
             (or do not export) what the next command does not need"
        )))
    }
}

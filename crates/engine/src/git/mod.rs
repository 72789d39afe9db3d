//! What git goes by: where its settings and hooks lie, what of them starts programs, and where they lead.

mod config;
mod index;
mod repository;
mod started;

pub(crate) use config::{Leads, is_harmless, leads_to};
pub(crate) use index::{entries, meaning};
pub(crate) use repository::{
    InRepository, REMOTES, STEPS, STRATEGIES, commands, is_of_repository, is_own_strategy, is_run_by_git,
    place_in_repository, within_repository,
};

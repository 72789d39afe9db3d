//! In place of `worker.rs` on processors whose registers the tracer does not know.

use super::protocol::{Job, Reply};
use crate::Failure;
use std::process::ExitCode;

/// No part of a room can run here.
pub(crate) fn part(_: &str) -> Option<ExitCode> {
    None
}

/// A room that cannot be.
#[derive(Debug)]
pub(crate) struct Room;

impl Room {
    pub(crate) fn open(_: Option<usize>) -> Result<Room, Failure> {
        Err("commands are observed on x86-64 only".into())
    }

    pub(crate) fn again(&self) -> Result<Room, Failure> {
        Room::open(None)
    }

    pub(crate) fn run(&mut self, _: &Job) -> Result<Reply, Failure> {
        Err("commands are observed on x86-64 only".into())
    }
}

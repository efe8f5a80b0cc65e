//! Acting under a lease that is over. Nothing of it may land; a repeated call may only hear its first answer again.

use super::{Held, Worker};

impl Worker {
    /// Comes back with a fence from long ago.
    pub(super) async fn haunt(&mut self) {
        let old = self.actor.luck.pick(&self.actor.board.known().old_fences).copied();
        let Some((id, fence)) = old else { return };
        let held = Held {
            id,
            fence,
            flow: None,
            pending: Vec::new(),
            goes_on: false,
            budget: self
                .actor
                .luck
                .pick(&self.actor.board.known().budgets)
                .map(|(_, id)| *id),
        };
        match self.actor.luck.below(4) {
            0 => drop(self.complete(&held).await),
            1 => drop(self.renew(&held).await),
            2 => drop(self.finish(&held).await),
            _ => {
                // Something that is not there: whatever this does to the task list of the worker is undone.
                let place = self.tasks.len();
                self.tasks.push(held.clone());
                self.go_on(place, &held).await;
                self.tasks.truncate(place);
            }
        }
    }
}

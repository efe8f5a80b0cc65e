//! Tags of executions.

use ff_core::command::operator::{Changed, SetTags};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::record::Tags;
use ff_core::state::PublicState;
use ff_core::view::{ListExecutions, WantedTag};

use crate::Harness;
use crate::scene::{Scene, refused, submission};

pub(crate) async fn setting_tags_replaces_all_of_them(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(tagged("team", "red")).await;
    assert_eq!(set(&scene, id, tags("stage", "two")).await.unwrap(), Changed::Now);
    assert_eq!(scene.fabric.get_tags(id).await.unwrap().tags, tags("stage", "two"));
    assert_eq!(*scene.view(id).await.tags, tags("stage", "two"));
}

pub(crate) async fn setting_the_same_tags_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(tagged("team", "red")).await;
    assert_eq!(set(&scene, id, tags("team", "red")).await.unwrap(), Changed::Already);
}

pub(crate) async fn tags_of_an_ended_execution_can_change(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    assert_eq!(set(&scene, id, tags("seen", "yes")).await.unwrap(), Changed::Now);
    assert_eq!(scene.state(id).await, PublicState::Cancelled);
}

pub(crate) async fn a_tag_key_has_a_fixed_form(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(tagged("team", "red")).await;
    for bad in ["", "Upper", "1st", "a b", "é", &"x".repeat(129)] {
        assert_eq!(refused(set(&scene, id, tags(bad, "v")).await), Code::InvalidTagKey);
        let answer = scene.fabric.create_execution(tagged(bad, "v")).await;
        assert_eq!(refused(answer), Code::InvalidTagKey, "{bad:?}");
    }
    assert_eq!(scene.fabric.get_tags(id).await.unwrap().tags, tags("team", "red"));
    assert_eq!(
        set(&scene, id, tags(&"x".repeat(128), "v")).await.unwrap(),
        Changed::Now
    );
}

pub(crate) async fn tags_are_at_most_64_with_values_of_1_kib(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let many = |count: usize| (0..count).map(|n| (format!("t{n}"), String::new())).collect::<Tags>();
    assert_eq!(refused(set(&scene, id, many(65)).await), Code::InvalidInput);
    assert_eq!(set(&scene, id, many(64)).await.unwrap(), Changed::Now);
    let long = |bytes: usize| tags("long", &"v".repeat(bytes));
    assert_eq!(refused(set(&scene, id, long(1_025)).await), Code::InvalidInput);
    assert_eq!(set(&scene, id, long(1_024)).await.unwrap(), Changed::Now);
}

pub(crate) async fn a_worker_sees_the_tags(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(tagged("team", "red")).await;
    assert_eq!(task.tags, tags("team", "red"));
}

pub(crate) async fn executions_are_listed_by_tag_as_it_is_now(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let moved = scene.submit(tagged("team", "red")).await;
    let stays = scene.submit(tagged("team", "red")).await;
    set(&scene, moved, tags("team", "blue")).await.unwrap();
    assert_eq!(listed(&scene, "red").await, [stays]);
    assert_eq!(listed(&scene, "blue").await, [moved]);
}

async fn listed(scene: &Scene<'_>, team: &str) -> Vec<ExecutionId> {
    let request = ListExecutions {
        tag: vec![WantedTag {
            key: "team".to_owned(),
            value: team.to_owned(),
        }],
        ..ListExecutions::default()
    };
    let page = scene.fabric.list_executions(request).await.unwrap();
    page.items.iter().map(|view| view.execution_id).collect()
}

async fn set(scene: &Scene<'_>, id: ExecutionId, tags: Tags) -> Result<Changed> {
    scene.fabric.set_tags(On::new(id, SetTags { tags })).await
}

fn tagged(key: &str, value: &str) -> CreateExecution {
    CreateExecution {
        tags: tags(key, value),
        ..submission()
    }
}

fn tags(key: &str, value: &str) -> Tags {
    [(key.to_owned(), value.to_owned())].into()
}

//! Finding things by what a person has of them, and names to choose from.

use ff_core::command::budget::CreateBudget;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::name::{ExecutionKind, Namespace};
use ff_core::view::{Find, Found, FoundType, Hit, ListNames, NamesOf};
use uuid::Uuid;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, budget_of, elsewhere, in_lane, instance, other_namespace, quota_of, refused, submission,
};

async fn find(scene: &Scene<'_>, q: impl ToString) -> Found {
    find_in(scene, Namespace::default_namespace(), q).await
}

async fn find_in(scene: &Scene<'_>, namespace: Namespace, q: impl ToString) -> Found {
    let q = q.to_string();
    scene.fabric.find(Find { namespace, q }).await.unwrap()
}

async fn names(scene: &Scene<'_>, of: NamesOf, prefix: &str) -> Vec<String> {
    let request = ListNames {
        namespace: Namespace::default_namespace(),
        of,
        prefix: prefix.to_owned(),
    };
    scene.fabric.names(request).await.unwrap().items
}

/// Types and ids of what was found.
fn ids(found: &Found) -> Vec<(FoundType, &str)> {
    found.items.iter().map(|hit| (hit.found, hit.id.as_str())).collect()
}

fn tail(uuid: Uuid) -> String {
    uuid.simple().to_string()[24..].to_owned()
}

pub(crate) async fn an_execution_is_found_by_its_id_and_by_pieces_of_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.after(MINUTE).await;
    scene.submit_plain().await;
    let hit = Hit {
        found: FoundType::Execution,
        id: id.to_string(),
        label: submission().execution_kind.to_string(),
        state: Some("waiting".to_owned()),
    };
    let uuid = id.uuid();
    let digits = uuid.simple().to_string();
    let asked = [
        id.to_string(),
        id.to_string().replace(['{', '}'], ""),
        format!(" {uuid} "),
        digits.to_uppercase(),
        digits[..14].to_owned(),
        uuid.to_string()[..16].to_owned(),
        tail(uuid),
    ];
    for q in asked {
        let found = find(&scene, &q).await;
        assert_eq!(found.items, std::slice::from_ref(&hit), "{q}");
        assert!(!found.at_least, "{q}");
        assert_eq!(find_in(&scene, other_namespace(), &q).await.items, [], "{q}");
    }
    assert_eq!(
        find(&scene, &digits[25..]).await.items,
        [],
        "7 digits are no piece of an id"
    );
}

pub(crate) async fn flows_budgets_and_quotas_are_found_by_their_ids(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let found = find(&scene, flow).await;
    assert_eq!(ids(&found), [(FoundType::Flow, flow.to_string().as_str())]);
    assert_eq!(found.items[0].state.as_deref(), Some("open"));
    assert_eq!(find(&scene, tail(flow.uuid())).await, found);
    let named = CreateBudget {
        scope: "team:red".to_owned(),
        ..budget_of(5)
    };
    let budget = scene.fabric.create_budget(named).await.unwrap().budget_id;
    let expected = Hit {
        found: FoundType::Budget,
        id: budget.to_string(),
        label: "team:red".to_owned(),
        state: None,
    };
    assert_eq!(find(&scene, budget).await.items, std::slice::from_ref(&expected));
    assert_eq!(find(&scene, "team:r").await.items, [expected]);
    assert_eq!(find_in(&scene, other_namespace(), budget).await.items, []);
    let quota = scene.fabric.create_quota_policy(quota_of(None, Some(1))).await;
    let quota = quota.unwrap().quota_policy_id;
    assert_eq!(
        ids(&find(&scene, quota).await),
        [(FoundType::Quota, quota.to_string().as_str())]
    );
    scene.fabric.delete_budget(budget).await.unwrap();
    assert_eq!(find(&scene, budget).await.items, []);
}

pub(crate) async fn lanes_kinds_and_workers_are_found_by_how_they_begin(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let command = CreateExecution {
        execution_kind: ExecutionKind::parse("worth-it").unwrap(),
        ..in_lane("work/fast")
    };
    scene.submit(command).await;
    scene.submit(elsewhere()).await;
    scene.register(WORKER).await;
    let worker = instance(WORKER).to_string();
    let found = find(&scene, " wor").await;
    let expected = [
        (FoundType::Lane, "work/fast"),
        (FoundType::Kind, "worth-it"),
        (FoundType::Worker, worker.as_str()),
    ];
    assert_eq!(ids(&found), expected);
    assert_eq!(ids(&find(&scene, "work/").await), expected[..1]);
    assert_eq!(
        find(&scene, "ork").await.items,
        [],
        "in the middle is not at the beginning"
    );
    for wrong in [" ".to_owned(), "x".repeat(257)] {
        let request = Find {
            namespace: Namespace::default_namespace(),
            q: wrong,
        };
        assert_eq!(refused(scene.fabric.find(request).await), Code::InvalidInput);
    }
}

pub(crate) async fn no_more_than_ten_are_found_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for number in 0..10 {
        scene.submit(in_lane(&format!("lane-{number}"))).await;
    }
    let found = find(&scene, "lane-").await;
    assert_eq!((found.items.len(), found.at_least), (10, false));
    scene.submit(in_lane("lane-x")).await;
    let found = find(&scene, "lane-").await;
    assert_eq!((found.items.len(), found.at_least), (10, true));
}

pub(crate) async fn names_are_offered_as_they_begin(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let of_kind = |kind: &str| CreateExecution {
        execution_kind: ExecutionKind::parse(kind).unwrap(),
        ..submission()
    };
    let task = scene.running(of_kind("web.parse")).await;
    scene.submit(of_kind("web.fetch")).await;
    scene.submit(of_kind("mail")).await;
    let foreign = CreateExecution {
        execution_kind: ExecutionKind::parse("web.foreign").unwrap(),
        ..elsewhere()
    };
    scene.submit(foreign).await;
    scene.fail(&task, "permanent").await.unwrap();
    assert_eq!(names(&scene, NamesOf::Kind, "web.").await, ["web.fetch", "web.parse"]);
    assert_eq!(
        names(&scene, NamesOf::Kind, "").await,
        ["mail", "web.fetch", "web.parse"]
    );
    assert_eq!(names(&scene, NamesOf::Category, "per").await, ["permanent"]);
    assert_eq!(names(&scene, NamesOf::Category, "x").await, [""; 0]);
    scene.submit(in_lane("web")).await;
    assert_eq!(names(&scene, NamesOf::Lane, "").await, ["default", "web"]);
    assert_eq!(names(&scene, NamesOf::Lane, "w").await, ["web"]);
}

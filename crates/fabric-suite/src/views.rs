//! Views: questions that are kept under a name.

use ff_core::caller::{Caller, Role};
use ff_core::command::operator::Changed;
use ff_core::command::view::{DeleteView, ListViews, PutView};
use ff_core::error::Code;
use ff_core::name::{Identity, Namespace, ViewName};
use ff_core::record::Actor;

use crate::Harness;
use crate::scene::{Scene, other_namespace, refused};

fn view(name: &str) -> PutView {
    PutView {
        namespace: Namespace::default_namespace(),
        name: ViewName::parse(name).unwrap(),
        title: format!("What is {name}"),
        query: "state=failed&kind=web.deploy".to_owned(),
        shared: false,
    }
}

fn shared(name: &str) -> PutView {
    PutView {
        shared: true,
        ..view(name)
    }
}

fn named(name: &str) -> DeleteView {
    DeleteView {
        namespace: Namespace::default_namespace(),
        name: ViewName::parse(name).unwrap(),
    }
}

async fn of_role<'h>(harness: &'h dyn Harness, name: &str, role: Role) -> Scene<'h> {
    let caller = Caller {
        actor: Actor::Client(Identity::parse(name).unwrap()),
        role,
        ..Caller::local()
    };
    Scene::by(harness, caller).await
}

/// The names of the views somebody sees.
async fn seen(scene: &Scene<'_>) -> Vec<String> {
    let namespace = Namespace::default_namespace();
    let views = scene.fabric.list_views(ListViews { namespace }).await.unwrap();
    views.iter().map(|view| view.name.to_string()).collect()
}

pub(crate) async fn a_view_is_kept_and_changed_under_its_name(harness: &dyn Harness) {
    let ann = of_role(harness, "ann", Role::Submitter).await;
    let kept = ann.fabric.put_view(view("broken")).await.unwrap();
    assert_eq!((kept.title.as_str(), kept.shared), ("What is broken", false));
    assert_eq!(kept.owner, Identity::parse("ann").ok());
    let changed = PutView {
        title: "What broke".to_owned(),
        query: String::new(),
        ..view("broken")
    };
    ann.fabric.put_view(changed).await.unwrap();
    let namespace = Namespace::default_namespace();
    let views = ann.fabric.list_views(ListViews { namespace }).await.unwrap();
    assert_eq!(views.len(), 1);
    assert_eq!((views[0].title.as_str(), views[0].query.as_str()), ("What broke", ""));
    assert_eq!(ann.fabric.delete_view(named("broken")).await.unwrap(), Changed::Now);
    assert_eq!(ann.fabric.delete_view(named("broken")).await.unwrap(), Changed::Already);
    assert!(seen(&ann).await.is_empty());
}

pub(crate) async fn everybody_sees_shared_views_and_their_own(harness: &dyn Harness) {
    let ann = of_role(harness, "ann", Role::Submitter).await;
    let bob = of_role(harness, "bob", Role::Operator).await;
    let reader = of_role(harness, "eve", Role::Reader).await;
    ann.fabric.put_view(view("hers")).await.unwrap();
    bob.fabric.put_view(view("his")).await.unwrap();
    bob.fabric.put_view(shared("ours")).await.unwrap();
    assert_eq!(seen(&ann).await, ["hers", "ours"]);
    assert_eq!(seen(&bob).await, ["his", "ours"]);
    assert_eq!(seen(&reader).await, ["ours"]);
    let foreign = ListViews {
        namespace: other_namespace(),
    };
    assert!(bob.fabric.list_views(foreign).await.unwrap().is_empty());
}

pub(crate) async fn only_an_operator_shares_and_nobody_takes_what_is_anothers(harness: &dyn Harness) {
    let ann = of_role(harness, "ann", Role::Submitter).await;
    let bob = of_role(harness, "bob", Role::Operator).await;
    let reader = of_role(harness, "eve", Role::Reader).await;
    assert_eq!(refused(reader.fabric.put_view(view("mine")).await), Code::Forbidden);
    assert_eq!(refused(ann.fabric.put_view(shared("ours")).await), Code::Forbidden);
    bob.fabric.put_view(shared("ours")).await.unwrap();
    assert_eq!(refused(ann.fabric.put_view(view("ours")).await), Code::Forbidden);
    assert_eq!(refused(ann.fabric.delete_view(named("ours")).await), Code::Forbidden);
    ann.fabric.put_view(view("hers")).await.unwrap();
    assert_eq!(refused(bob.fabric.put_view(shared("hers")).await), Code::AlreadyExists);
    assert_eq!(
        bob.fabric.delete_view(named("hers")).await.unwrap(),
        Changed::Already,
        "it is not there for others"
    );
    assert_eq!(seen(&ann).await, ["hers", "ours"]);
}

pub(crate) async fn an_admin_puts_away_what_belonged_to_a_key_that_is_gone(harness: &dyn Harness) {
    let ann = of_role(harness, "ann", Role::Submitter).await;
    let admin = of_role(harness, "root", Role::Admin).await;
    ann.fabric.put_view(view("hers")).await.unwrap();
    assert_eq!(seen(&admin).await, ["hers"]);
    let kept = admin.fabric.put_view(view("hers")).await.unwrap();
    assert_eq!(kept.owner, Identity::parse("ann").ok(), "it stays hers");
    assert_eq!(admin.fabric.delete_view(named("hers")).await.unwrap(), Changed::Now);
    assert!(seen(&ann).await.is_empty());
}

pub(crate) async fn a_view_has_a_title_and_a_query_of_some_length(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for (title, query) in [
        (String::new(), String::new()),
        ("t".repeat(257), String::new()),
        ("two\nlines".to_owned(), String::new()),
        ("t".to_owned(), "q".repeat(4 * 1024 + 1)),
    ] {
        let wrong = PutView {
            title,
            query,
            ..view("wrong")
        };
        assert_eq!(refused(scene.fabric.put_view(wrong).await), Code::InvalidInput);
    }
}

pub(crate) async fn a_namespace_keeps_at_most_100_views(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for number in 0..100 {
        scene.fabric.put_view(view(&format!("v{number}"))).await.unwrap();
    }
    assert_eq!(refused(scene.fabric.put_view(view("more")).await), Code::InvalidInput);
    scene.fabric.put_view(shared("v7")).await.unwrap();
    let elsewhere = PutView {
        namespace: other_namespace(),
        ..view("more")
    };
    scene.fabric.put_view(elsewhere).await.unwrap();
    assert_eq!(seen(&scene).await.len(), 100);
}

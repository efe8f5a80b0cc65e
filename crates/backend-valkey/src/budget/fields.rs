//! A budget as the fields of its hash, which the library reads and writes too.
//!
//! A dimension with limits has two fields, `soft:<dimension>` and `hard:<dimension>`; an empty one is no limit. What is spent
//! of a dimension is `usage:<dimension>`. `revision` and `due` belong to the library alone.

use std::collections::BTreeMap;

use ff_backend::Result;
use ff_core::id::BudgetId;
use ff_core::name::{Dimension, Namespace};
use ff_core::record::{Breach, BreachKind, Budget, Excess, Limits, OnHardLimit, StopOrder, Withdrawal};
use ff_core::time::{Duration, Timestamp};

use crate::error::corrupt;
use crate::limit::Fields;

/// The fields of a budget.
pub(super) fn encode(budget: &Budget) -> Fields {
    let (stop, withdrawal) = (budget.stop, budget.withdrawal);
    let mut fields = Fields::default()
        .with("namespace", &budget.namespace)
        .with("scope", &budget.scope)
        .with_some("reset_interval_ms", budget.reset_interval.map(Duration::as_millis))
        .with("on_hard_limit", &on_hard_limit(budget.on_hard_limit))
        .with("created_at", &budget.created_at)
        .with("definition_digest", &budget.definition_digest)
        .with_some("next_reset_at", budget.next_reset_at)
        .with("generation", &budget.generation)
        .with("generation_at", &budget.generation_at)
        .with("soft_breaches", &budget.soft_breaches)
        .with("hard_breaches", &budget.hard_breaches)
        .with_some("last_breach", budget.last_breach.as_ref().map(breach_text))
        .with_some("stop_since", stop.map(|stop| stop.since))
        .with_some("stop_generation", stop.map(|stop| stop.generation))
        .with_some("stop_next_sweep_at", stop.and_then(|stop| stop.next_sweep_at))
        .with_some("withdrawal_since", withdrawal.map(|withdrawal| withdrawal.since))
        .with_some(
            "withdrawal_generation",
            withdrawal.map(|withdrawal| withdrawal.generation),
        )
        .with_some("deleted_at", budget.deleted_at)
        .with_document("blocked_in", &budget.blocked_in)
        .with_document("requests", &budget.requests);
    let limit = |limit: Option<u64>| limit.map_or_else(String::new, |limit| limit.to_string());
    for (dimension, limits) in &budget.dimensions {
        fields = fields.with(format!("soft:{dimension}"), &limit(limits.soft));
        fields = fields.with(format!("hard:{dimension}"), &limit(limits.hard));
    }
    for (dimension, usage) in &budget.usage {
        fields = fields.with(format!("usage:{dimension}"), usage);
    }
    fields
}

/// The budget of fields.
pub(super) fn decode(id: BudgetId, fields: &Fields) -> Result<Budget> {
    let required = |name| fields.get(name).map(Timestamp::from_millis);
    Ok(Budget {
        id,
        namespace: fields.get::<Namespace>("namespace")?,
        scope: fields.get("scope")?,
        dimensions: dimensions(fields)?,
        usage: usage(fields)?,
        reset_interval: fields.find("reset_interval_ms")?.map(Duration::from_millis),
        on_hard_limit: parse_on_hard_limit(&fields.get::<String>("on_hard_limit")?)?,
        created_at: required("created_at")?,
        definition_digest: fields.get::<String>("definition_digest")?.try_into().map_err(corrupt)?,
        next_reset_at: fields.moment("next_reset_at")?,
        generation: fields.get("generation")?,
        generation_at: required("generation_at")?,
        soft_breaches: fields.get("soft_breaches")?,
        hard_breaches: fields.get("hard_breaches")?,
        last_breach: fields
            .find::<String>("last_breach")?
            .map(|text| parse_breach(&text))
            .transpose()?,
        stop: fields
            .moment("stop_since")?
            .map(|since| stop(since, fields))
            .transpose()?,
        withdrawal: fields
            .moment("withdrawal_since")?
            .map(|since| withdrawal(since, fields))
            .transpose()?,
        deleted_at: fields.moment("deleted_at")?,
        blocked_in: fields.document("blocked_in")?,
        requests: fields.document("requests")?,
        carried: Default::default(),
    })
}

fn stop(since: Timestamp, fields: &Fields) -> Result<StopOrder> {
    Ok(StopOrder {
        since,
        generation: fields.get("stop_generation")?,
        next_sweep_at: fields.moment("stop_next_sweep_at")?,
    })
}

fn withdrawal(since: Timestamp, fields: &Fields) -> Result<Withdrawal> {
    let generation = fields.get("withdrawal_generation")?;
    Ok(Withdrawal { generation, since })
}

fn dimensions(fields: &Fields) -> Result<BTreeMap<Dimension, Limits>> {
    let limit = |text: &str| {
        (!text.is_empty())
            .then(|| text.parse::<u64>().map_err(corrupt))
            .transpose()
    };
    let mut dimensions: BTreeMap<Dimension, Limits> = BTreeMap::new();
    for (name, soft) in fields.under("soft:") {
        dimensions.entry(dimension(name)?).or_default().soft = limit(soft)?;
    }
    for (name, hard) in fields.under("hard:") {
        dimensions.entry(dimension(name)?).or_default().hard = limit(hard)?;
    }
    Ok(dimensions)
}

fn usage(fields: &Fields) -> Result<BTreeMap<Dimension, u64>> {
    let usage = fields.under("usage:");
    usage
        .map(|(name, usage)| Ok((dimension(name)?, usage.parse().map_err(corrupt)?)))
        .collect()
}

fn dimension(name: &str) -> Result<Dimension> {
    Dimension::parse(name).map_err(corrupt)
}

const fn on_hard_limit(on_hard_limit: OnHardLimit) -> &'static str {
    match on_hard_limit {
        OnHardLimit::Block => "block",
        OnHardLimit::CancelActive => "cancel_active",
    }
}

fn parse_on_hard_limit(text: &str) -> Result<OnHardLimit> {
    match text {
        "block" => Ok(OnHardLimit::Block),
        "cancel_active" => Ok(OnHardLimit::CancelActive),
        _ => Err(corrupt(format!("on_hard_limit {text:?}"))),
    }
}

/// `<kind> <dimension> <current> <limit> <at>`: names hold no white space.
fn breach_text(breach: &Breach) -> String {
    let kind = match breach.kind {
        BreachKind::Soft => "soft",
        BreachKind::Hard => "hard",
    };
    let Excess {
        dimension,
        current,
        limit,
    } = &breach.excess;
    format!("{kind} {dimension} {current} {limit} {}", breach.at)
}

fn parse_breach(text: &str) -> Result<Breach> {
    let unknown = || corrupt(format!("last_breach {text:?}"));
    let parts: Vec<&str> = text.split(' ').collect();
    let [kind, name, current, limit, at] = parts[..] else {
        return Err(unknown());
    };
    Ok(Breach {
        excess: Excess {
            dimension: dimension(name)?,
            current: current.parse().map_err(corrupt)?,
            limit: limit.parse().map_err(corrupt)?,
        },
        kind: match kind {
            "soft" => BreachKind::Soft,
            "hard" => BreachKind::Hard,
            _ => return Err(unknown()),
        },
        at: Timestamp::from_millis(at.parse().map_err(corrupt)?),
    })
}

#[cfg(test)]
mod tests {
    use ff_core::digest::Digest;
    use ff_core::name::RequestId;
    use ff_core::partition::Partition;
    use ff_core::record::{AMOUNT_MAX, BlockedIn, RequestLog, RequestOutcome};
    use uuid::Uuid;

    use super::*;

    const ODD: &str = "usage:soft:ü=\"{1}\"";

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// Every bit of `bits` says whether a budget has one of the things it may have.
    fn budget(bits: u32) -> Budget {
        let has = |bit: u32| bits & (1 << bit) != 0;
        let (tokens, odd) = (dimension("tokens").unwrap(), dimension(ODD).unwrap());
        let limits = Limits {
            soft: has(0).then_some(0),
            hard: has(1).then_some(AMOUNT_MAX),
        };
        let breach = |kind| Breach {
            excess: Excess {
                dimension: odd.clone(),
                current: AMOUNT_MAX,
                limit: 0,
            },
            kind,
            at: at(7),
        };
        let (mut blocked_in, mut requests) = (BlockedIn::default(), RequestLog::default());
        if has(2) {
            blocked_in.mark(Partition::flow(17), u64::MAX);
            blocked_in.mark(Partition::flow(3), 1);
            requests.remember(RequestId::parse(ODD).ok().as_ref(), RequestOutcome::BudgetReset);
        }
        let dimensions = [(tokens.clone(), limits), (odd.clone(), Limits::default())];
        Budget {
            id: BudgetId::from_uuid(Uuid::from_u128(1)),
            namespace: Namespace::parse(ODD).unwrap(),
            scope: if has(3) {
                "team a / \"b\"".to_owned()
            } else {
                String::new()
            },
            dimensions: dimensions.into_iter().filter(|_| has(4)).collect(),
            usage: [(tokens, AMOUNT_MAX), (odd.clone(), 0)]
                .into_iter()
                .filter(|_| has(5))
                .collect(),
            reset_interval: has(6).then_some(Duration::from_secs(60)),
            on_hard_limit: if has(7) {
                OnHardLimit::CancelActive
            } else {
                OnHardLimit::Block
            },
            created_at: at(1),
            definition_digest: Digest::of("test", [ODD]),
            next_reset_at: has(6).then_some(Timestamp::MAX),
            generation: u64::MAX,
            generation_at: at(2),
            soft_breaches: 3,
            hard_breaches: 4,
            last_breach: has(8).then(|| breach(if has(7) { BreachKind::Hard } else { BreachKind::Soft })),
            stop: has(9).then_some(StopOrder {
                since: at(5),
                generation: u64::MAX,
                next_sweep_at: has(7).then_some(at(6)),
            }),
            withdrawal: has(2).then_some(Withdrawal {
                generation: u64::MAX,
                since: at(9),
            }),
            deleted_at: has(10).then_some(at(8)),
            blocked_in,
            requests,
            carried: Default::default(),
        }
    }

    #[test]
    fn a_budget_of_fields_is_the_budget_the_fields_are_of() {
        for bits in 0..1 << 11 {
            let budget = budget(bits);
            assert_eq!(decode(budget.id, &encode(&budget)).unwrap(), budget);
        }
    }
}

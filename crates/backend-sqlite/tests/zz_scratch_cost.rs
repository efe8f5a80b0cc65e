use ff_backend::Backend; use ff_backend::quota::*; use ff_backend_sqlite::*; use ff_core::command::quota::*; use ff_core::id::*; use ff_core::time::Duration; use ff_core::name::Namespace; use uuid::Uuid;
#[tokio::test]
async fn cost() {
    let d = tempfile::tempdir().unwrap();
    let s = SqliteBackend::open(&Options { durability: Durability::Normal, ..Options::new(d.path().join("s.db"))}).unwrap();
    let id = QuotaPolicyId::from_uuid(Uuid::from_u128(7));
    let command = CreateQuotaPolicy{quota_policy_id:None,namespace:Namespace::default_namespace(),window:Duration::from_hours(5),max_requests_per_window:Some(200_000),max_concurrent:None,jitter:Duration::ZERO};
    s.quota(vec![QuotaCall::Create{quota_policy_id:id,command}]).await;
    let mut n=0u128;
    for round in 0..24 {
        let calls: Vec<_> = (0..10_000).map(|_| { n+=1; QuotaCall::Admit{quota_policy_id:id, ask: Admit{grant_id:GrantId::from_uuid(Uuid::from_u128(n.wrapping_mul(0x9E3779B97F4A7C15F39CC0605CEDC835))),execution_id:ExecutionId::new(0,Uuid::from_u128(n.wrapping_mul(0x9E3779B97F4A7C15F39CC0605CEDC835))),attempt_index:0,continues:false,dice:0}}}).collect();
        let t=std::time::Instant::now(); let r=s.quota(calls).await; let e=t.elapsed();
        eprintln!("{round}: {:?} per admit; last {:?}", e/10_000, r.last().unwrap().as_ref().unwrap().answer);
    }
    s.advance_clock(Duration::from_hours(5));
    let t=std::time::Instant::now();
    let r=s.quota(vec![QuotaCall::Admit{quota_policy_id:id, ask: Admit{grant_id:GrantId::from_uuid(Uuid::from_u128(1)),execution_id:ExecutionId::new(0,Uuid::from_u128(2)),attempt_index:0,continues:false,dice:0}}, QuotaCall::Get(id)]).await;
    eprintln!("after the whole window expired: {:?} {:?}", t.elapsed(), r);
}

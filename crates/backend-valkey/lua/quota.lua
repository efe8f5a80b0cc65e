-- Quota policies. The rules of admissions and releases are those of core/src/machine/quota, function by function.
--
-- Beside the policy stand three sorted sets: slots by name ("<grant> <execution> <taken at>"), places in the window by when
-- they were taken ("<execution> <attempt>"), and grants that were released without holding a slot, by when.
--
-- use_quotas: admits, releases and reads, in order. read_quotas: the same with readings only.
-- ask[4]: items, each {prefix, id}, {prefix, id, 'release', grant}
--   or {prefix, id, 'admit', grant, execution, attempt, partition, continues}
-- answers, one each: the state, or {outcome}; who is refused is answered
--   {outcome, taken, limit, free_at or '', generation, jitter_ms, window_ms}
--   outcome: not_found; freed, unknown, gone; admitted, already_admitted, unlimited, late, cap_full, window_full
--   state: {fields as name, value …, slots, places, place_free_at or '', unpromised_place_free_at or ''}
--
-- put_quota: what put_limit takes; answers false, or the state of a policy that has another revision

-- The names of this file end with it: only 200 may be known at a time.
do

local GRANT_TTL_MAX_MS = 60000
local WINDOW_MAX_MS = 2678400000
-- What no longer counts goes away with use, never very much at once.
local FORGOTTEN_PER_CALL = 256

local function keys_of_quota(prefix, id)
  return prefix .. 'slots:' .. id, prefix .. 'window:' .. id, prefix .. 'released:' .. id
end

local function touch_quota(touched, prefix, id)
  local quota = touch(touched, prefix, 'quota:' .. id)
  quota.slots, quota.window, quota.released = keys_of_quota(prefix, id)
  return quota
end

-- Places taken up to this moment do not count. Those up to `places_over` never will again, not even in a longer window.
local function over_until(fields)
  return math.max(now - tonumber(fields.window_ms), tonumber(fields.places_over or 0))
end

-- Recent::count
local function count_places(quota)
  return call('ZCOUNT', quota.window, '(' .. integer(over_until(quota.fields)), '+inf')
end

-- Recent::falls_to, for what fits beside `promised` others (places_beside).
local function place_free_at(quota, promised)
  local fields = quota.fields
  local rate = tonumber(fields.max_requests_per_window)
  if not rate or rate <= promised then return nil end
  local rank = integer(promised - rate)
  local taken_at = tonumber(call('ZRANGE', quota.window, rank, rank, 'WITHSCORES')[2])
  if not taken_at or taken_at <= tonumber(fields.places_over or 0) then return nil end
  return taken_at + tonumber(fields.window_ms)
end

-- room_at
local function room_at(quota, promised)
  local fields = quota.fields
  local at_once = tonumber(fields.generation_at)
  if fields.deleted_at then return at_once end
  local cap, rate = tonumber(fields.max_concurrent), tonumber(fields.max_requests_per_window)
  if cap and call('ZCARD', quota.slots) + promised >= cap then return nil end
  if not rate or fields.continuing_in then return at_once end
  if rate <= promised then return nil end
  return math.max(place_free_at(quota, promised) or 0, at_once)
end

-- due_when
local function quota_due_at(quota)
  local fields = quota.fields
  if not fields.blocked_in then return nil end
  local alone = room_at(quota, 0)
  if not fields.promise_count then return alone end
  local promised = room_at(quota, tonumber(fields.promise_count))
  return earlier_of(promised, alone and math.max(alone, tonumber(fields.promise_until)))
end

-- Removes some of the oldest members of a set; answers how many there were up to the moment.
local function forget_until(key, moment)
  local gone = call('ZCOUNT', key, '-inf', moment)
  if gone > 0 then call('ZREMRANGEBYRANK', key, 0, math.min(gone, FORGOTTEN_PER_CALL) - 1) end
  return gone
end

-- forget_the_past
local function forget_the_past(quota)
  local fields = quota.fields
  local over = integer(over_until(fields))
  local gone = forget_until(quota.window, over)
  fields.places_over = gone > FORGOTTEN_PER_CALL and over or nil
  if gone > 0 then quota.is_changed = true end
  forget_until(quota.released, integer(now - GRANT_TTL_MAX_MS))
end

local function slot_of(quota, grant)
  return call('ZRANGEBYLEX', quota.slots, '[' .. grant .. ' ', '(' .. grant .. '!', 'LIMIT', 0, 1)[1]
end

-- Recent::holds of the tombstones.
local function is_released(quota, grant)
  local released_at = call('ZSCORE', quota.released, grant)
  return released_at and tonumber(released_at) + GRANT_TTL_MAX_MS > now
end

-- needs_place
local function needs_place(quota, place, continues)
  if not quota.fields.max_requests_per_window or continues then return false end
  local taken_at = call('ZSCORE', quota.window, place)
  return not taken_at or tonumber(taken_at) <= over_until(quota.fields)
end

-- use_promise
local function use_promise(fields)
  local left = tonumber(fields.promise_count or 0) - 1
  if left > 0 then
    fields.promise_count = integer(left)
  else
    fields.promise_count, fields.promise_until = nil, nil
  end
end

-- mark_blocked, with the answer to whoever is refused.
local function refuse(quota, ask, outcome, taken, limit, free_at)
  local fields, partition = quota.fields, ask[7]
  fields.blocked_in = mark_blocked(fields.blocked_in, partition, fields.generation)
  if ask[8] then fields.continuing_in = mark_blocked(fields.continuing_in, partition, fields.generation) end
  return {outcome, integer(taken), integer(limit), free_at and integer(free_at) or '',
    fields.generation, fields.jitter_ms, fields.window_ms}
end

-- admit, with judge in the middle.
local function admit(quota, ask)
  local grant, place = ask[4], ask[5] .. ' ' .. integer(ask[6])
  local fields = quota.fields
  if fields.deleted_at then return {'unlimited'} end
  forget_the_past(quota)
  if is_released(quota, grant) then return {'late'} end
  if slot_of(quota, grant) then return {'already_admitted'} end
  local in_use, cap = call('ZCARD', quota.slots), tonumber(fields.max_concurrent)
  if cap and in_use >= cap then return refuse(quota, ask, 'cap_full', in_use, cap) end
  local takes_place = needs_place(quota, place, ask[8])
  if takes_place then
    local taken, rate = count_places(quota), tonumber(fields.max_requests_per_window)
    if taken >= rate then return refuse(quota, ask, 'window_full', taken, rate, place_free_at(quota, 0)) end
  end
  use_promise(fields)
  call('ZADD', quota.slots, 0, grant .. ' ' .. ask[5] .. ' ' .. now_text)
  if takes_place then
    call('ZADD', quota.window, now_text, place)
    call('PEXPIRE', quota.window, WINDOW_MAX_MS)
  end
  quota.is_changed = true
  return {'admitted'}
end

-- release
local function release(quota, grant)
  if quota.fields.deleted_at then return {'gone'} end
  forget_the_past(quota)
  local slot = slot_of(quota, grant)
  if not slot then
    call('ZADD', quota.released, now_text, grant)
    call('PEXPIRE', quota.released, GRANT_TTL_MAX_MS)
    return {'unknown'}
  end
  call('ZREM', quota.slots, slot)
  move_generation(quota.fields)
  return {'freed'}
end

-- What the caller's rules look at: the policy and an Outlook.
local function state_of(touched, prefix, id)
  local quota = touched[prefix .. 'quota:' .. id] or touch_quota({}, prefix, id)
  if not quota.fields.revision then return {{}, 0, 0, '', ''} end
  local promised = quota.fields.promise_count
  local free_at = place_free_at(quota, 0)
  local unpromised_free_at = promised and place_free_at(quota, tonumber(promised))
  return {
    fields_of({[prefix .. 'quota:' .. id] = quota}, prefix, 'quota:' .. id),
    call('ZCARD', quota.slots),
    count_places(quota),
    free_at and integer(free_at) or '',
    unpromised_free_at and integer(unpromised_free_at) or '',
  }
end

local function use_quotas(ask)
  local touched, answers = {}, {}
  for i, item in ipairs(ask[4]) do
    if not item[3] then
      answers[i] = state_of(touched, item[1], item[2])
    else
      local quota = touch_quota(touched, item[1], item[2])
      if not quota.fields.revision then
        answers[i] = {'not_found'}
      elseif item[3] == 'admit' then
        answers[i] = admit(quota, item)
      else
        answers[i] = release(quota, item[4])
      end
    end
  end
  for _, quota in pairs(touched) do write_limit(quota, quota_due_at) end
  return answers
end

offer('use_quotas', use_quotas)
offer('read_quotas', use_quotas, {'no-writes'})

offer('put_quota', function(ask)
  local id = string.match(ask[5], '^quota:(.*)$')
  local quota = put_limit(ask)
  if not quota then return state_of({}, ask[4], id) end
  quota.slots, quota.window, quota.released = keys_of_quota(ask[4], id)
  if quota.is_deleted_now then
    -- delete: nothing is taken of it any more.
    call('UNLINK', quota.slots, quota.window, quota.released)
    quota.fields.places_over = nil
  end
  write_limit(quota, quota_due_at)
  return false
end)

end

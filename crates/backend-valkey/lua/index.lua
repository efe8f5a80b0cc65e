-- Index entries. A record carries the entries that stand for it, so that exactly these are removed again.

local announced_at = {}
local announced_count = 0
local ANNOUNCED_MAX = 10000
local GROWING_MS = 1000

-- Tells that a queue grew: at once when it opened, otherwise now and then.
local function announce(prefix, lane, score, registration, opened)
  local of_lane = announced_at[lane]
  if not of_lane then
    of_lane = {}
    announced_at[lane] = of_lane
  end
  local before = of_lane[prefix]
  if not opened and before and now - before < GROWING_MS and now >= before then return end
  if not before then
    announced_count = announced_count + 1
    if announced_count > ANNOUNCED_MAX then
      of_lane = {}
      announced_at, announced_count = {[lane] = of_lane}, 1
    end
  end
  of_lane[prefix] = now
  hint('e ' .. prefix .. ' ' .. generation .. ' ' .. integer(changes[prefix] or 0) .. ' ' .. score .. ' ' .. registration)
end

-- Whether as many budget sets as may have a queue of their own stand beside this one.
local function is_crowded(prefix, lane, group, sets_max)
  local family = lane .. ' ' .. group .. ' '
  local siblings = call('ZLEXCOUNT', prefix .. QUEUES, '[' .. family, '(' .. family .. '~')
  if siblings < sets_max then return false end
  local alone = family .. '0 '
  return siblings - call('ZLEXCOUNT', prefix .. QUEUES, '[' .. alone, '(' .. alone .. '~') >= sets_max
end

-- The queue a record enters: its own, or the one that very many budget sets share.
-- queue: {set, lane, group, registration, shared set, shared registration, sets_max}; the last three only with budgets.
local function queue_for(prefix, queue)
  if queue[5] and is_empty(prefix .. queue[1]) and is_crowded(prefix, queue[2], queue[3], queue[7]) then
    return queue[5], queue[6]
  end
  return queue[1], queue[4]
end

-- Forgets a queue that is empty.
local function unregister(prefix, set)
  local lane, group, budgets = string.match(set, '^queue:(.*):(%x+)%.(%x+)$')
  local entry = lane .. ' ' .. group .. ' ' .. budgets
  call('ZREMRANGEBYLEX', prefix .. QUEUES, '[' .. entry .. ' ', '(' .. entry .. '!')
end

-- Forgets a cause that holds nothing back any more.
local function forget_cause(prefix, set)
  call('SREM', prefix .. CAUSES, string.match(set, '^blocked:(.+)$'))
end

-- Enters a queue, or what a cause holds back: `where` is {set, …} as for queue_for, or the text of a cause. Answers the text that
-- stands on the record.
local function enter(prefix, name, score, where)
  if type(where) == 'table' then
    local set, registration = queue_for(prefix, where)
    local key = prefix .. set
    local opened = is_empty(key)
    add_to(key, score, name)
    if opened then call('ZADD', prefix .. QUEUES, 0, registration) end
    announce(prefix, where[2], score, registration, opened)
    return set .. ' ' .. score
  end
  local set = 'blocked:' .. where
  add_to(prefix .. set, score, name)
  call('SADD', prefix .. CAUSES, where)
  return set .. ' ' .. score
end

local function leave(prefix, name, place)
  local set = string.match(place, '^(%S+)')
  remove_from(prefix .. set, name)
  forget_if_empty(prefix, set, string.match(set, '^blocked:') and forget_cause or unregister)
end

-- Moves a record to its place and answers the text of it; without a score it has none. One whose queue and score stay the same
-- keeps its place.
local function move(prefix, name, before, score, where)
  if before ~= '' then
    if score and type(where) == 'table' then
      local set, score_before = string.match(before, '^(%S+) (%S+)$')
      -- While it waits it stays in the queue it entered, be it shared or its own.
      if score_before == score and (set == where[1] or set == where[5]) then return before end
    end
    leave(prefix, name, before)
  end
  if score then return enter(prefix, name, score, where) end
  return ''
end

-- The first timer of each partition that somebody was told of. The one who was told looks then, and tells us what is first
-- after that.
local first_due = {}

-- Sets or clears a timer; tells when it comes before the first one, or has come.
local function schedule(prefix, name, before, at)
  if before == at then return end
  local key = prefix .. DUE
  if at == '' then
    remove_from(key, name)
    return
  end
  add_to(key, at, name)
  local moment, first = tonumber(at), first_due[prefix]
  if moment <= now or not first or moment < first then
    first_due[prefix] = moment
    hint('d ' .. prefix .. ' ' .. at)
  end
end

-- Entries are lines "set score" or "set score member"; without a member it is the record's name.
local function entry_of(line, name)
  local set, score, member = string.match(line, '^(%S+) (%S+) ?(.*)$')
  if member == '' then member = name end
  return set, score, member
end

local function list_in(prefix, name, lines)
  for line in string.gmatch(lines, '[^\n]+') do
    local set, score, member = entry_of(line, name)
    add_to(prefix .. set, score, member)
  end
end

local function unlist(prefix, name, lines)
  for line in string.gmatch(lines, '[^\n]+') do
    local set, _, member = entry_of(line, name)
    remove_from(prefix .. set, member)
  end
end

local function without(lines, others)
  local is_other, rest = {}, {}
  for line in string.gmatch(others, '[^\n]+') do is_other[line] = true end
  for line in string.gmatch(lines, '[^\n]+') do
    if not is_other[line] then rest[#rest + 1] = line end
  end
  return table.concat(rest, '\n')
end

-- Makes the entries of a record those in `after`.
local function relist(prefix, name, before, after)
  if before == after then return end
  if before == '' then return list_in(prefix, name, after) end
  -- What ends loses its last entries: the usual change needs no comparison.
  if string.sub(before, 1, #after) == after then return unlist(prefix, name, string.sub(before, #after + 1)) end
  unlist(prefix, name, without(before, after))
  list_in(prefix, name, without(after, before))
end

-- Makes a record due at once, with a new stamp. One that waits already keeps its place.
local function nudge(prefix, name)
  local stamp = call('HINCRBY', prefix .. STAMPS, 'last', 1)
  call('HSET', prefix .. STAMPS, name, stamp)
  call('ZADD', prefix .. NUDGED, 'NX', now_text, name)
  hint('d ' .. prefix .. ' ' .. now_text)
end

local function forget_nudge(prefix, name)
  if call('HDEL', prefix .. STAMPS, name) == 1 then call('ZREM', prefix .. NUDGED, name) end
end

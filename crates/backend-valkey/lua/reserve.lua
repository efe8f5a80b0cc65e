-- reserve: takes the best eligible executions of some queues for one worker.
--
-- Which queues those are, and what to write, the caller says: here is only the atomic pop and its stamp. What a hand-out
-- does to the record is not worked out here at all: the claim is kept in its head beside the body, and whoever reads both applies the
-- rule to them.
--
-- ask[4]: tag   ask[5]: may lease at once   ask[6]: bytes at most   ask[7]: gate states that let claims pass
-- ask[8]: claimants, used in order, in a row: text, lease_ms, grant_ms, actor, lease id, attempt id
-- ask[9]: lanes, tried in order; each {name, sources, bound}: what scores worse than the bound stays where it is, because queues that are
--   not named have better. sources: {prefix, set, bound of its own or false} …, which it stays better than: another queue of the
--   partition has something from there on
-- ask[10]: the first one is handed out however large it is
-- answers {tasks, heads, whether the bytes ran out}
--   tasks, in a row: version before, body, at, gate state, gate version, input, type
--   heads: {prefix, set, changes of the partition so far, best score that is left, or ''} … of every source

local CLAIMANT_WIDTH = 6

-- Entries of a queue that are fetched at once: what it gives if all give alike, and some more.
local CHUNK_SPARE, CHUNK_MAX = 2, 64

-- Moves a source on to its next candidate, without taking it; answers whether there is one.
local function advance(source)
  source.at = source.at + 2
  if source.at > #source.found then
    if source.exhausted then return false end
    local first = source.fetched
    source.found = call('ZRANGE', source.key, first, first + source.chunk - 1, 'WITHSCORES')
    source.fetched = first + #source.found / 2
    source.exhausted = #source.found < 2 * source.chunk
    source.at = 1
    if #source.found == 0 then return false end
  end
  source.name, source.score = source.found[source.at], tonumber(source.found[source.at + 1])
  return true
end

local function is_better(source, other)
  return source.score < other.score or (source.score == other.score and source.name < other.name)
end

-- Sources are kept as a heap, the one with the best candidate first: each is as good as the two at twice its place.
-- Lets the source at a place sink to where it belongs.
local function sink(heap, at)
  local source, child, count = heap[at], 2 * at, #heap
  while child <= count do
    if child < count and is_better(heap[child + 1], heap[child]) then child = child + 1 end
    if not is_better(heap[child], source) then break end
    heap[at] = heap[child]
    at, child = child, 2 * child
  end
  heap[at] = source
end

-- Takes the first source out.
local function drop(heap)
  heap[1] = heap[#heap]
  heap[#heap] = nil
  if #heap > 0 then sink(heap, 1) end
end

-- The sources of a lane, and a heap of those that have something.
local function open_sources(sources, wanted)
  local opened, heap = {}, {}
  local chunk = math.min(math.ceil(wanted / #sources) + CHUNK_SPARE, CHUNK_MAX)
  for i, source in ipairs(sources) do
    local prefix, set = source[1], source[2]
    local it = {prefix = prefix, set = set, key = prefix .. set, bound = tonumber(source[3] or nil), chunk = chunk, found = {},
      at = 1, fetched = 0, taken = {}}
    opened[i] = it
    if advance(it) then heap[#heap + 1] = it end
  end
  for at = math.floor(#heap / 2), 1, -1 do sink(heap, at) end
  return opened, heap
end

-- A head whose rest tells of the next attempt: version, its number, state, and what src/record/attempt.rs writes.
local NEXT = '^((%d+)%S*) %S* (%S*) %S* %S*( %S+ %S+ (%S*) )(%d+) next (%d) (%S+) (%S+) (%d+) (%d+)'

-- Stamps one execution and adds its task; answers how many bytes it has, or nil when its record cannot be seen or would be too much.
local function stamp(ask, source, tasks)
  local prefix, name, bytes_left = source.prefix, source.name, ask.bytes_left
  local key = prefix .. name
  local found = call('HMGET', key, 'head', 'body', 'lines', 'input', 'input_type')
  local input = found[4] or ''
  if bytes_left and #input > bytes_left then return nil, true end
  local before, number, state, about, flow, index, free, attempt, cap, updated, epoch = string.match(found[1] or '', NEXT)
  if not index then return nil end
  local who = CLAIMANT_WIDTH * tasks.count
  local text, lease_ms, grant_ms, actor, lease_id, attempt_id = unpack(ask[8], who + 1, who + CLAIMANT_WIDTH)
  local at, at_text = now, now_text
  if tonumber(updated) > now then at, at_text = tonumber(updated), updated end
  local gate_state, gate_version = '', ''
  if flow ~= '' then
    local gate = call('HGET', prefix .. 'gate:' .. flow, 'head')
    if gate then gate_version, gate_state = string.match(gate, '^(%S*) %S* (%S*)') end
  end
  local leased = ask[5] and free == '1' and (flow == '' or ask[7][gate_state])
  local expires_at = at + (leased and lease_ms or grant_ms)
  local due = expires_at
  if cap == 'now' then due = at elseif cap ~= '-' then due = math.min(due, tonumber(cap)) end
  local due_text = integer(due)
  local version = integer(number + 1) .. '-' .. ask[4]
  local behind = gate_state == '' and '-' or gate_state
  if leased then
    epoch = integer(epoch + 1)
    if attempt ~= '-' then attempt_id = attempt end
    local expiry = due == expires_at and due_text or integer(expires_at)
    local line = '{"at":' .. at_text .. ',"what":"claimed","actor":' .. actor .. ',"attempt_index":' .. index ..
      ',"lease_epoch":' .. epoch .. '}'
    local lines = tonumber(found[3]) or 0
    call('HSET', key,
      'head', version .. ' ' .. due_text .. ' active  ' .. about .. index .. ' leased ' .. epoch .. ' ' .. expiry .. ' ' .. lease_id
        .. ' ' .. attempt_id .. '\n' .. at_text .. ' lease ' .. behind .. ' ' .. text,
      'lines', lines + 1, FIELDS_OF_HISTORY .. (lines + 1), line)
    trim_lines(key, lines, lines + 1)
    tell(prefix, name, about .. line)
    local moved = source.moved
    if state ~= 'active' then moved[state], moved.active = (moved[state] or 0) - 1, (moved.active or 0) + 1 end
    if flow ~= '' and state ~= 'active' then
      call('HINCRBY', prefix .. 'flow:' .. flow, 'count:' .. state, -1)
      call('HINCRBY', prefix .. 'flow:' .. flow, 'count:active', 1)
    end
  else
    local _, _, _, _, _, rest = string.match(found[1], HEAD_PARTS)
    call('HSET', key, 'head',
      write_head(version, due_text, state, '', '', rest) .. '\n' .. at_text .. ' grant ' .. behind .. ' ' .. text)
  end
  local dues = source.dues
  local n = #dues
  dues[n + 1], dues[n + 2] = due_text, name
  if not source.due or due < source.due then source.due = due end
  n = #tasks
  tasks[n + 1], tasks[n + 2], tasks[n + 3], tasks[n + 4] = before, found[2], at_text, gate_state
  tasks[n + 5], tasks[n + 6], tasks[n + 7] = gate_version, input, found[5] or ''
  tasks.count = tasks.count + 1
  return #input
end

-- Writes what comes of what was taken from a source, and says what is left.
local function settle(source, heads)
  local prefix = source.prefix
  if #source.taken > 0 then
    changed(prefix)
    call('ZREM', source.key, unpack(source.taken))
    tell_due(prefix, integer(source.due))
  end
  local head = source.left
  if not head and source.at <= #source.found then head = source.found[source.at + 1] end
  if not head and not source.exhausted then head = call('ZRANGE', source.key, 0, 0, 'WITHSCORES')[2] end
  if not head then unregister(source.prefix, source.set) end
  heads[#heads + 1] = {source.prefix, source.set, changes[source.prefix] or 0, head or ''}
end

-- Takes the candidate of a source, if there is room for it; one that could not be taken stays, and is the best that is left.
local function take(ask, lane, source, tasks)
  if not source.dues then
    -- What will be written when the call is done, even if it fails.
    source.dues = waiting_for('ZADD', source.prefix .. DUE)
    source.moved = inner(inner(depth_moved, source.prefix), lane)
  end
  local bytes, too_much = stamp(ask, source, tasks)
  if too_much then
    ask.full = true
  elseif bytes then
    source.taken[#source.taken + 1] = source.name
    ask.bytes_left = (ask.bytes_left or ask[6]) - bytes
  else
    source.left = source.left or source.found[source.at + 1]
  end
end

-- Takes from the sources of a lane until there is enough, or what is left is bound; answers whether it is time for the next lane.
local function take_from_lane(ask, lane, tasks, heads)
  local wanted = #ask[8] / CLAIMANT_WIDTH
  local sources, heap = open_sources(lane[2], wanted - tasks.count)
  local bound, is_bound = tonumber(lane[3]), lane[3] ~= false
  while #heap > 0 and tasks.count < wanted do
    local source = heap[1]
    if bound and source.score > bound then break end
    if source.bound and source.score >= source.bound then
      is_bound = true
      drop(heap)
    else
      take(ask, lane[1], source, tasks)
      if ask.full then break end
      if advance(source) then sink(heap, 1) else drop(heap) end
    end
  end
  for _, source in ipairs(sources) do settle(source, heads) end
  return not ask.full and not is_bound and tasks.count < wanted
end

local function reserve(ask)
  local tasks, heads = {count = 0}, {}
  if not ask[10] then ask.bytes_left = ask[6] end
  local passing = {}
  for _, state in ipairs(ask[7]) do passing[state] = true end
  ask[7] = passing
  for _, lane in ipairs(ask[9]) do
    if not take_from_lane(ask, lane, tasks, heads) then break end
  end
  return {tasks, heads, ask.full and 1 or 0}
end

offer('reserve', reserve)

-- reserve: takes the best eligible executions of some queues for one worker.
--
-- Which queues those are, and what to write, the caller says: here is only the atomic pop and its stamp. What a hand-out
-- does to the record is not worked out here at all: the claim is kept beside the body, and whoever reads both applies the
-- rule to them.
--
-- ask[4]: tag   ask[5]: may lease at once   ask[6]: bytes at most   ask[7]: gate states that let claims pass
-- ask[8]: claimants, used in order: {text, lease_ms, grant_ms, actor, lease id, attempt id} …
-- ask[9]: lanes, tried in order; each {sources, bound}: what scores worse than the bound stays where it is, because queues that are
--   not named have better. sources: {prefix, set, bound of its own or false} …, which it stays better than: another queue of the
--   partition has something from there on
-- ask[10]: the first one is handed out however large it is
-- answers {tasks, heads, whether the bytes ran out}
--   tasks: {version before, body, at, gate state, gate version, input, type} …
--   heads: {prefix, set, changes of the partition so far, best score that is left, or ''} … of every source

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

-- Stamps one execution; answers its task, or nil when its record cannot be seen or would be too much.
local function stamp(ask, prefix, name, claimant, bytes_left)
  local key = prefix .. name
  local found = call('HMGET', key, 'version', 'body', 'attempt', 'lines', 'input', 'input_type')
  local input = found[5] or ''
  if bytes_left and #input > bytes_left then return nil, true end
  local index, free, attempt, cap, updated, epoch, state, lane, kind, flow =
    string.match(found[3] or '', '^(%d+) next (%d) (%S+) (%S+) (%d+) (%d+) (%S+) (%S+) (%S+) (%S*)$')
  if not index then return nil end
  local at, at_text = now, now_text
  if tonumber(updated) > now then at, at_text = tonumber(updated), updated end
  local gate_state, gate_version = '', ''
  if flow ~= '' then
    local gate = call('HMGET', prefix .. 'gate:' .. flow, 'state', 'version')
    gate_state, gate_version = gate[1] or '', gate[2] or ''
  end
  local leased = ask[5] and free == '1' and (flow == '' or ask[7][gate_state])
  local expires_at = at + (leased and claimant[2] or claimant[3])
  local due = expires_at
  if cap == 'now' then due = at elseif cap ~= '-' then due = math.min(due, tonumber(cap)) end
  local due_text = integer(due)
  local version = integer(string.match(found[1], '^%d+') + 1) .. '-' .. ask[4]
  local behind = gate_state == '' and '-' or gate_state
  if leased then
    epoch = integer(epoch + 1)
    local attempt_id = attempt == '-' and claimant[6] or attempt
    local expiry = due == expires_at and due_text or integer(expires_at)
    local line = '{"at":' .. at_text .. ',"what":"claimed","actor":' .. claimant[4] .. ',"attempt_index":' .. index ..
      ',"lease_epoch":' .. epoch .. '}'
    local lines = tonumber(found[4]) or 0
    call('HSET', key, 'version', version, 'place', '', 'due', due_text, 'state', 'active',
      'claim', at_text .. ' lease ' .. behind .. ' ' .. claimant[1],
      'attempt', index .. ' leased ' .. epoch .. ' ' .. expiry .. ' ' .. claimant[5] .. ' ' .. attempt_id,
      'lines', lines + 1, FIELDS_OF_HISTORY .. (lines + 1), line)
    trim_lines(key, lines, lines + 1)
    feed(prefix, name .. ' ' .. lane .. ' ' .. kind .. ' ' .. flow .. ' ', line)
    count_depth(prefix, lane, state, 'active')
    if flow ~= '' and state ~= 'active' then
      call('HINCRBY', prefix .. 'flow:' .. flow, 'count:' .. state, -1)
      call('HINCRBY', prefix .. 'flow:' .. flow, 'count:active', 1)
    end
  else
    call('HSET', key, 'version', version, 'place', '', 'due', due_text,
      'claim', at_text .. ' grant ' .. behind .. ' ' .. claimant[1])
  end
  schedule(prefix, name, '', due_text)
  return {found[1], found[2], at_text, gate_state, gate_version, input, found[6] or ''}
end

-- Removes what was taken from a source, and says what is left.
local function settle(source, heads)
  if #source.taken > 0 then
    changed(source.prefix)
    call('ZREM', source.key, unpack(source.taken))
  end
  local head = source.left
  if not head and source.at <= #source.found then head = source.found[source.at + 1] end
  if not head and not source.exhausted then head = call('ZRANGE', source.key, 0, 0, 'WITHSCORES')[2] end
  if not head then unregister(source.prefix, source.set) end
  heads[#heads + 1] = {source.prefix, source.set, changes[source.prefix] or 0, head or ''}
end

-- Takes the candidate of a source, if there is room for it; one that could not be taken stays, and is the best that is left.
local function take(ask, source, tasks)
  local task, too_much = stamp(ask, source.prefix, source.name, ask[8][#tasks + 1], ask.bytes_left)
  if too_much then
    ask.full = true
  elseif task then
    tasks[#tasks + 1] = task
    source.taken[#source.taken + 1] = source.name
    ask.bytes_left = (ask.bytes_left or ask[6]) - #task[6]
  else
    source.left = source.left or source.found[source.at + 1]
  end
end

-- Takes from the sources of a lane until there is enough, or what is left is bound; answers whether it is time for the next lane.
local function take_from_lane(ask, lane, tasks, heads)
  local sources, heap = open_sources(lane[1], #ask[8] - #tasks)
  local bound, is_bound = tonumber(lane[2]), lane[2] ~= false
  while #heap > 0 and #tasks < #ask[8] do
    local source = heap[1]
    if bound and source.score > bound then break end
    if source.bound and source.score >= source.bound then
      is_bound = true
      drop(heap)
    else
      take(ask, source, tasks)
      if ask.full then break end
      if advance(source) then sink(heap, 1) else drop(heap) end
    end
  end
  for _, source in ipairs(sources) do settle(source, heads) end
  return not ask.full and not is_bound and #tasks < #ask[8]
end

local function reserve(ask)
  local tasks, heads = {}, {}
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

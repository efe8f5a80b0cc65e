-- reserve: takes the best eligible executions of some queues for one worker.
--
-- Which queues those are, and what to write, the caller says: here is only the atomic pop and its stamp. What a hand-out
-- does to the record is not worked out here at all: the claim is kept beside the body, and whoever reads both applies the
-- rule to them.
--
-- ask[4]: tag   ask[5]: may lease at once   ask[6]: bytes at most   ask[7]: gate states that let claims pass
-- ask[8]: claimants, used in order: {text, lease_ms, grant_ms, actor, lease id, attempt id} …
-- ask[9]: lanes, tried in order; each {sources, bound}: sources are {prefix, set} …, and whatever scores worse than the bound
--   may not be the best there is
-- ask[10]: the first one is handed out however large it is
-- answers {tasks, heads, whether the bytes ran out}
--   tasks: {prefix, name, version before, body, at, gate state, gate version, input, type} …
--   heads: {prefix, set, changes of the partition so far, best score that is left, or ''} … of every source

local CHUNK = 16

-- The next candidate of a source, without taking it.
local function candidate(source)
  if source.at > #source.found then
    if source.exhausted then return nil end
    local first = source.fetched
    source.found = call('ZRANGE', source.key, first, first + CHUNK - 1, 'WITHSCORES')
    source.fetched = first + #source.found / 2
    source.exhausted = #source.found < 2 * CHUNK
    source.at = 1
    if #source.found == 0 then return nil end
  end
  return source.found[source.at], tonumber(source.found[source.at + 1])
end

local function best_of(sources)
  local best, best_name, best_score
  for _, source in ipairs(sources) do
    local name, score = candidate(source)
    if name and (not best or score < best_score or (score == best_score and name < best_name)) then
      best, best_name, best_score = source, name, score
    end
  end
  return best, best_name, best_score
end

local function earlier(left, right)
  if right and right < left then return right end
  return left
end

-- Stamps one execution; answers its task, or nil when its record cannot be seen or would be too much.
local function stamp(ask, prefix, name, claimant, bytes_left)
  local key = prefix .. name
  local found = call('HMGET', key, 'version', 'body', 'next', 'lines', 'input', 'input_type')
  local next_claim, input = found[3], found[5] or ''
  if not found[1] or not next_claim then return nil end
  if bytes_left and #input > bytes_left then return nil, true end
  local free, index, attempt, timeout, cap, updated, epoch, state, lane, kind, flow =
    string.match(next_claim, '^(%d) (%d+) (%S+) (%S+) (%S+) (%d+) (%d+) (%S+) (%S+) (%S+) (%S*)$')
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
  if leased and timeout ~= '-' then due = earlier(due, at + tonumber(timeout)) end
  if cap == 'now' then due = at elseif cap ~= '-' then due = earlier(due, tonumber(cap)) end
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
    call('HSET', key, 'version', version, 'place', '', 'due', due_text, 'state', 'active', 'epoch', epoch,
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
  return {prefix, name, found[1], found[2], at_text, gate_state, gate_version, input, found[6] or ''}
end

-- Removes what was taken from a source, and says what is left.
local function settle(source, heads)
  if #source.taken > 0 then
    changed(source.prefix)
    call('ZREM', source.key, unpack(source.taken))
  end
  local head = call('ZRANGE', source.key, 0, 0, 'WITHSCORES')
  if #head == 0 then unregister(source.prefix, source.set) end
  heads[#heads + 1] = {source.prefix, source.set, changes[source.prefix] or 0, head[2] or ''}
end

local function reserve(ask)
  local tasks, heads, full = {}, {}, false
  local bytes_left = not ask[10] and ask[6] or nil
  local passing = {}
  for _, state in ipairs(ask[7]) do passing[state] = true end
  ask[7] = passing
  for _, lane in ipairs(ask[9]) do
    local sources = {}
    local bound, beyond = tonumber(lane[2]), false
    for i, source in ipairs(lane[1]) do
      sources[i] = {prefix = source[1], set = source[2], key = source[1] .. source[2], found = {}, at = 1, fetched = 0, taken = {}}
    end
    while not full and #tasks < #ask[8] do
      local source, name, score = best_of(sources)
      if not source then
        beyond = bound ~= nil
        break
      end
      if bound and score > bound then
        beyond = true
        break
      end
      source.at = source.at + 2
      local task, too_much = stamp(ask, source.prefix, name, ask[8][#tasks + 1], bytes_left)
      if task then
        tasks[#tasks + 1] = task
        source.taken[#source.taken + 1] = name
        bytes_left = (bytes_left or ask[6]) - #task[8]
      end
      full = too_much or false
    end
    for _, source in ipairs(sources) do settle(source, heads) end
    if full or beyond or #tasks >= #ask[8] then break end
  end
  return {tasks, heads, full and 1 or 0}
end

offer('reserve', reserve)

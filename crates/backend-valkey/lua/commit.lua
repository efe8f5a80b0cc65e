-- commit: a list of transactions, each all or nothing.
--
-- ask[4]: transactions; each
--   {prefix, generation or false, not_after or false, guards, puts, deletes, lines, increments, nudges, clear_nudges,
--    stream_ends, blobs, remains, queues_max or false}
--   guards, deletes: {name, version or ''} …
--   puts: {name, expected version or '', version, body, state, lane, due, listed, place or false, ttl or false, may expire,
--    created, epoch or false, attempt, next, flow or false} …, the last five only of executions
--   place: {score, number of the queue} or {score, false, cause}
--   lines: {subject, about, text} …
--   increments: {name, field, by} …           nudges: {name, counter name or false, field} …
--   clear_nudges: {name, stamp} …             stream_ends: {uuid, attempt index, at, reason} …
--   blobs: {uuid, field, number of the argument with the bytes, type or false} … (field: input, result, or a signal's id)
--   remains: uuids
-- ask[5]: the queues that are entered, see queue_for
-- answers, one each: {'ok', changes of the partition so far, counters…}
--   | {'conflict', number of the expectation, version or ''} | {'too_late'} | {'too_many_queues'} | {'generation'}
--
-- Lists that are empty come as false.

local NOTHING = {'', '', '', '', '', '', ''}

-- What stands of a record: {version, place, due, listed, state, lines, streams}, '' where there is nothing. `is_new` says that
-- nothing should. One whose time to live is over is gone, whether or not the server has dropped it yet.
local function peek(key, is_new, expires)
  if is_new and call('EXISTS', key) == 0 then return NOTHING end
  local found = call('HMGET', key, 'version', 'place', 'due', 'listed', 'state', 'lines', 'streams')
  if expires and found[1] then
    local moment = call('HGET', key, 'expires')
    if moment and tonumber(moment) <= now then
      call('UNLINK', key)
      return NOTHING
    end
  end
  for i = 1, 7 do found[i] = found[i] or '' end
  return found
end

local function version_of(key)
  local found = call('HMGET', key, 'version', 'expires')
  if not found[1] or (found[2] and tonumber(found[2]) <= now) then return '' end
  return found[1]
end

-- Whether a lane would get one queue too many by what the transaction enters.
local function overflows(prefix, puts, queues_max)
  local opening, is_counted = {}, {}
  for _, put in ipairs(puts) do
    local queue = put[9] and put[9][2]
    if queue then
      local set = queue_for(prefix, queue)
      if not is_counted[set] and is_empty(prefix .. set) then
        is_counted[set] = true
        opening[queue[2]] = (opening[queue[2]] or 0) + 1
      end
    end
  end
  for lane, count in pairs(opening) do
    if count + call('ZLEXCOUNT', prefix .. QUEUES, '[' .. lane .. ' ', '(' .. lane .. '!') > queues_max then return true end
  end
  return false
end

-- Compares everything a transaction depends on; answers a refusal, or nil and what stands of the records it writes.
local function judge(tx)
  local prefix, number, puts, deletes = tx[1], 0, {}, {}
  if tx[2] and tx[2] ~= generation then return {'generation'} end
  if tx[4] then
    for _, guard in ipairs(tx[4]) do
      number = number + 1
      local found = version_of(prefix .. guard[1])
      if found ~= guard[2] then return {'conflict', number, found} end
    end
  end
  if tx[5] then
    for i, put in ipairs(tx[5]) do
      number = number + 1
      local found = peek(prefix .. put[1], put[2] == '', put[11])
      if found[1] ~= put[2] then return {'conflict', number, found[1]} end
      puts[i] = found
    end
  end
  if tx[6] then
    for i, delete in ipairs(tx[6]) do
      number = number + 1
      local found = peek(prefix .. delete[1], false, true)
      if found[1] ~= delete[2] then return {'conflict', number, found[1]} end
      deletes[i] = found
    end
  end
  if tx[3] and now >= tx[3] then return {'too_late'} end
  if tx[14] and tx[5] and overflows(prefix, tx[5], tx[14]) then return {'too_many_queues'} end
  return nil, puts, deletes
end

-- Adds a field that changed to those that will be written.
local function add_changed(fields, field, before, after)
  if before ~= after then
    local n = #fields
    fields[n + 1], fields[n + 2] = field, after
  end
end

-- Lists an execution by its creation, and once more while it has not ended.
local function list_execution(prefix, name, created, before, after)
  if before == '' then add_to(prefix .. EXECUTIONS, created, name) end
  local was_open, is_open = before ~= '' and not IS_TERMINAL[before], not IS_TERMINAL[after]
  if is_open and not was_open then
    add_to(prefix .. OPEN, created, name)
  elseif was_open and not is_open then
    remove_from(prefix .. OPEN, name)
  end
end

-- Moves a written record in every index; answers the fields to be written.
local function index_put(prefix, put, before)
  local name, state, lane, due, listed, place = put[1], put[5], put[6], put[7], put[8], put[9]
  local fields = {'version', put[3], 'body', put[4]}
  if put[12] then
    -- A new record has no field that would be empty.
    local nothing = before[1] == '' and '' or nil
    if put[13] then add_changed(fields, 'epoch', nothing, put[13]) end
    add_changed(fields, 'attempt', nothing, put[14])
    add_changed(fields, 'next', nothing, put[15])
    -- What reserve wrote beside the last body is part of this one.
    add_changed(fields, 'claim', nothing, '')
    if put[16] then add_changed(fields, 'flow', '', put[16]) end
    if nothing then add_changed(fields, 'lane', '', lane) end
    list_execution(prefix, name, put[12], before[5], state)
    count_depth(prefix, lane, before[5], state)
  end
  if before[2] ~= '' or place then add_changed(fields, 'place', before[2], move(prefix, name, before[2], place)) end
  schedule(prefix, name, before[3], due)
  add_changed(fields, 'due', before[3], due)
  relist(prefix, name, before[4], listed)
  add_changed(fields, 'listed', before[4], listed)
  add_changed(fields, 'state', before[5], state)
  return fields
end

local function delete_record(prefix, name, before)
  if before[2] ~= '' then leave(prefix, name, before[2]) end
  schedule(prefix, name, before[3], '')
  relist(prefix, name, before[4], '')
  local lane = call('HGET', prefix .. name, 'lane')
  if lane then
    count_depth(prefix, lane, before[5], '')
    remove_from(prefix .. EXECUTIONS, name)
    remove_from(prefix .. OPEN, name)
  end
  forget_nudge(prefix, name)
  if string.match(name, '^execution:') then
    -- Counters and history stay until the remains are deleted.
    local gone = {}
    for _, field in ipairs(call('HKEYS', prefix .. name)) do
      if not string.match(field, '^h:') and not string.match(field, '^group:') and field ~= 'lines' and field ~= 'streams' then
        gone[#gone + 1] = field
      end
    end
    for first = 1, #gone, 1000 do
      call('HDEL', prefix .. name, unpack(gone, first, math.min(first + 999, #gone)))
    end
    call('UNLINK', prefix .. 'payloads:' .. string.sub(name, 11))
  else
    call('UNLINK', prefix .. name)
  end
end

-- Deletes everything that is kept beside an execution.
local function delete_remains(prefix, uuid)
  local key = prefix .. 'execution:' .. uuid
  for index in string.gmatch(call('HGET', key, 'streams') or '', '%d+') do
    local stream = uuid .. ':' .. index
    call('UNLINK', prefix .. 'frames:' .. stream, prefix .. 'stream:' .. stream, prefix .. 'expiring:' .. stream)
  end
  call('UNLINK', prefix .. 'payloads:' .. uuid)
  if call('HEXISTS', key, 'version') == 0 then
    call('UNLINK', key)
    return
  end
  local gone = {'input', 'input_type', 'result', 'result_type', 'lines', 'streams'}
  for _, field in ipairs(call('HKEYS', key)) do
    if string.match(field, '^h:') or string.match(field, '^group:') then gone[#gone + 1] = field end
  end
  call('HDEL', key, unpack(gone))
end

-- Adds blobs to the fields of the record they belong to, or writes them beside one that is not written otherwise.
local function keep_blobs(prefix, blobs, fields_of)
  for _, blob in ipairs(blobs) do
    local uuid, field = blob[1], blob[2]
    local name = 'execution:' .. uuid
    local own = field == 'input' or field == 'result'
    local fields = fields_of[name]
    if own and fields then
      local at = #fields
      fields[at + 1], fields[at + 2] = field, arguments[blob[3]]
      if blob[4] then fields[at + 3], fields[at + 4] = field .. '_type', blob[4] end
    elseif fields or call('HEXISTS', prefix .. name, 'version') == 1 then
      local key = own and prefix .. name or prefix .. 'payloads:' .. uuid
      call('HSET', key, field, arguments[blob[3]], field .. '_type', blob[4] or '')
    end
  end
end

local function end_stream(prefix, ending)
  local stream = ending[1] .. ':' .. ending[2]
  local key = prefix .. 'stream:' .. stream
  if call('EXISTS', key) == 1 then
    call('HSET', key, 'closed_at', ending[3], 'closed_reason', ending[4])
    hint('s ' .. prefix .. ' ' .. stream)
  end
end

-- Writes the records of a transaction, each with the lines and blobs that belong to it.
local function write_puts(tx, puts)
  local prefix, fields_of, count_of, told_before = tx[1], {}, {}, {}
  for i, put in ipairs(tx[5] or {}) do
    fields_of[put[1]] = index_put(prefix, put, puts[i])
    count_of[put[1]] = tonumber(puts[i][6]) or 0
  end
  if tx[7] then
    for _, line in ipairs(tx[7]) do
      local about = line[1]
      feed(prefix, line[2], line[3])
      if fields_of[about] then
        told_before[about] = told_before[about] or count_of[about]
        count_of[about] = add_line(fields_of[about], count_of[about], line[3])
      else
        tell_alone(prefix .. about, line[3])
      end
    end
  end
  if tx[12] then keep_blobs(prefix, tx[12], fields_of) end
  for _, put in ipairs(tx[5] or {}) do
    local name, ttl = put[1], put[10]
    local key, fields, before = prefix .. name, fields_of[name], told_before[name]
    if before then add_changed(fields, 'lines', before, count_of[name]) end
    if ttl then add_changed(fields, 'expires', '', integer(now + ttl)) end
    call('HSET', key, unpack(fields))
    if ttl then call('PEXPIRE', key, ttl) end
    if before then trim_lines(key, before, count_of[name]) end
  end
end

-- Streams that end. An execution that is written tells whether it has any.
local function end_streams(tx, puts)
  local has_none = {}
  for i, put in ipairs(tx[5] or {}) do has_none[put[1]] = puts[i][7] == '' end
  for _, ending in ipairs(tx[11]) do
    if not has_none['execution:' .. ending[1]] then end_stream(tx[1], ending) end
  end
end

local function stands_at_zero(prefix, name, field)
  return tonumber(call('HGET', prefix .. name, field) or 0) == 0
end

local function apply(tx, puts, deletes)
  local prefix = tx[1]
  changed(prefix)
  write_puts(tx, puts)
  local answer = {'ok', changes[prefix]}
  if tx[8] then
    for i, increment in ipairs(tx[8]) do
      answer[i + 2] = call('HINCRBY', prefix .. increment[1], increment[2], increment[3])
    end
  end
  if tx[11] then end_streams(tx, puts) end
  if tx[6] then
    for i, delete in ipairs(tx[6]) do delete_record(prefix, delete[1], deletes[i]) end
  end
  if tx[13] then
    for _, uuid in ipairs(tx[13]) do delete_remains(prefix, uuid) end
  end
  if tx[10] then
    for _, clear in ipairs(tx[10]) do
      if call('HGET', prefix .. STAMPS, clear[1]) == clear[2] then forget_nudge(prefix, clear[1]) end
    end
  end
  if tx[9] then
    for _, it in ipairs(tx[9]) do
      if not it[2] or stands_at_zero(prefix, it[2], it[3]) then nudge(prefix, it[1]) end
    end
  end
  return answer
end

local function commit(ask)
  local answers, queues = {}, ask[5]
  for i, tx in ipairs(ask[4]) do
    for _, put in ipairs(tx[5] or {}) do
      local place = put[9]
      if place and place[2] then place[2] = queues[place[2]] end
    end
    local refusal, puts, deletes = judge(tx)
    answers[i] = refusal or apply(tx, puts, deletes)
  end
  return answers
end

offer('commit', commit)

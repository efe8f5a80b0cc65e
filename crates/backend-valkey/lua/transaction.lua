-- A transaction, all or nothing:
--   {prefix, generation or false, not_after or false, guards, puts, deletes, lines, increments, nudges, clear_nudges,
--    stream_ends, blobs, remains, queues_max or false, leaves, enters}
--   guards, deletes: {name, version or ''} …
--   puts, in a row: name, expected version or '', version, body, due, rest of the head, score or false, queue, see queue_for, ttl or
--    false, may expire, state, created or false, lane; the last two only of executions
--   lines, in a row: subject, about, text, event or false; a subject is the number of the put it is about, or a name; about is
--    what stands between a name and a line in the feed
--   increments: {name, field, by} …           nudges: {name, counter name or false, field} …
--   clear_nudges: {name, stamp} …             stream_ends, in a row: uuid, attempt index, at, reason
--   blobs, in a row: name of the hash, field, number of the argument with the bytes, type or false
--   remains: uuids                            leaves, enters: members of the index that go, and that come
--
-- Lists that are empty come as false. What is in a row has no table for each: making tables is much of what a call costs.

local PUT_WIDTH = 13
local NOTHING = {'', '', '', '', '', '', '', ''}

-- What stands of a record: {version, due, state, set of its queue, score there, rest of the head, lines, streams}, '' where there is
-- nothing.
-- `is_new` says that nothing should. One whose time to live is over is gone, whether or not the server has dropped it yet.
local function peek(key, is_new, expires)
  if is_new and call('EXISTS', key) == 0 then return NOTHING end
  local found = call('HMGET', key, 'head', 'lines', 'streams')
  if expires and found[1] then
    local moment = call('HGET', key, 'expires')
    if moment and tonumber(moment) <= now then
      call('UNLINK', key)
      return NOTHING
    end
  end
  found[7], found[8] = found[2] or '', found[3] or ''
  if not found[1] then return {'', '', '', '', '', '', found[7], found[8]} end
  found[1], found[2], found[3], found[4], found[5], found[6] = string.match(found[1], HEAD_PARTS)
  return found
end

local function version_of(key)
  local found = call('HMGET', key, 'head', 'expires')
  if not found[1] or (found[2] and tonumber(found[2]) <= now) then return '' end
  return string.match(found[1], '^%S*')
end

-- Whether a lane would get one queue too many by what the transaction enters.
local function overflows(prefix, puts, queues_max)
  local opening, is_counted = {}, {}
  for at = 1, #puts, PUT_WIDTH do
    local queue = puts[at + 6] and puts[at + 7]
    if queue then
      local set = queue_for(prefix, queue)
      if not is_counted[set] and is_empty(prefix .. set) then
        is_counted[set] = true
        opening[queue[2]] = (opening[queue[2]] or 0) + 1
      end
    end
  end
  for lane, count in pairs(opening) do
    if is_full(prefix, lane, count, queues_max) then return true end
  end
  return false
end

-- Compares everything a transaction depends on; answers a refusal, or nil and what stands of the records it writes.
local function judge(tx)
  local prefix, puts, number, found_puts, found_deletes = tx[1], tx[5], 0, {}, nil
  if tx[2] and tx[2] ~= generation then return {'generation'} end
  for _, guard in ipairs(tx[4] or NONE) do
    number = number + 1
    local found = version_of(prefix .. guard[1])
    if found ~= guard[2] then return {'conflict', number, found} end
  end
  for at = 1, #puts, PUT_WIDTH do
    number = number + 1
    local expected = puts[at + 1]
    local found = peek(prefix .. puts[at], expected == '', puts[at + 9])
    if found[1] ~= expected then return {'conflict', number, found[1]} end
    found_puts[#found_puts + 1] = found
  end
  for i, delete in ipairs(tx[6] or NONE) do
    number = number + 1
    local found = peek(prefix .. delete[1], false, true)
    if found[1] ~= delete[2] then return {'conflict', number, found[1]} end
    found_deletes = found_deletes or {}
    found_deletes[i] = found
  end
  if tx[3] and now >= tx[3] then return {'too_late'} end
  if tx[14] and overflows(prefix, puts, tx[14]) then return {'too_many_queues'} end
  return nil, found_puts, found_deletes
end

-- Fields that will be written. Most transactions write one record, so its table is used again by the next one.
local fields_of_first = {}

-- lines: how many lines of history the record has.
local function empty_fields(number, lines)
  local fields = number == 1 and fields_of_first or {}
  fields.count, fields.lines = 0, lines
  return fields
end

local function add_field(fields, field, value)
  local count = fields.count
  fields[count + 1], fields[count + 2] = field, value
  fields.count = count + 2
end

-- Moves a written record in every index, and adds the fields to be written.
local function index_put(prefix, puts, at, before, fields)
  local name, _, version, body, due, rest, score, queue, ttl, _, state, created, lane =
    unpack(puts, at, at + PUT_WIDTH - 1)
  if created then
    if before[1] == '' then add_to(prefix .. EXECUTIONS, created, name) end
    count_depth(prefix, lane, before[3], state, 1)
  elseif rest ~= before[6] then
    if before[6] ~= '' then remove_from(prefix .. INDEX, before[6]) end
    add_to(prefix .. INDEX, '0', rest)
  end
  local set, place = move(prefix, name, before[4], before[5], score, queue)
  schedule(prefix, name, before[2], due)
  add_field(fields, 'head', write_head(version, due, state, set, place, rest))
  add_field(fields, 'body', body)
  if ttl then add_field(fields, 'expires', integer(now + ttl)) end
end

-- Whether a field of an execution stays until its remains are deleted: history, counters and what tells of them.
local function is_remains(field)
  return string.find(field, '^h:') or string.find(field, '^group:') or field == 'lines' or field == 'streams'
end

local function is_no_remains(field)
  return not is_remains(field)
end

local function drop_fields(key, is_dropped)
  local gone = {}
  for _, field in ipairs(call('HKEYS', key)) do
    if is_dropped(field) then gone[#gone + 1] = field end
  end
  for first = 1, #gone, VALUES_MAX do
    call('HDEL', key, unpack(gone, first, math.min(first + VALUES_MAX - 1, #gone)))
  end
end

local function delete_record(prefix, name, before)
  local key, uuid = prefix .. name, string.match(name, '^execution:(.*)$')
  if before[4] ~= '' then leave(prefix, name, before[4]) end
  if not uuid and before[6] ~= '' then remove_from(prefix .. INDEX, before[6]) end
  schedule(prefix, name, before[2], '')
  forget_nudge(prefix, name)
  if uuid then
    count_depth(prefix, string.match(before[6], '^%S*'), before[3], '', 1)
    remove_from(prefix .. EXECUTIONS, name)
    drop_fields(key, is_no_remains)
    key = prefix .. 'payloads:' .. uuid
  end
  call('UNLINK', key)
end

-- Deletes everything that is kept beside an execution.
local function delete_remains(prefix, uuid)
  local key = prefix .. 'execution:' .. uuid
  for index in string.gmatch(call('HGET', key, 'streams') or '', '%d+') do
    local stream = uuid .. ':' .. index
    call('UNLINK', prefix .. 'frames:' .. stream, prefix .. 'stream:' .. stream, prefix .. 'expiring:' .. stream)
  end
  call('UNLINK', prefix .. 'payloads:' .. uuid)
  if call('HEXISTS', key, 'head') == 0 then
    call('UNLINK', key)
  else
    drop_fields(key, is_remains)
    call('HDEL', key, 'input', 'input_type', 'result', 'result_type')
  end
end

-- Adds blobs to the fields of the record they belong to, or writes them beside one that is not written otherwise.
local function keep_blobs(prefix, blobs, puts, fields_of)
  local fields_named = {}
  for i, fields in ipairs(fields_of) do fields_named[puts[(i - 1) * PUT_WIDTH + 1]] = fields end
  for i = 1, #blobs, 4 do
    local owner, field, bytes, kind = blobs[i], blobs[i + 1], arguments[blobs[i + 2]], blobs[i + 3]
    local name = string.gsub(owner, '^payloads:', 'execution:')
    local fields = fields_named[name]
    if owner == name and fields then
      add_field(fields, field, bytes)
      if kind then add_field(fields, field .. '_type', kind) end
    elseif fields or call('HEXISTS', prefix .. name, 'head') == 1 then
      call('HSET', prefix .. owner, field, bytes, field .. '_type', kind or '')
    end
  end
end

local function end_stream(prefix, uuid, index, closed_at, reason)
  local stream = uuid .. ':' .. index
  local key = prefix .. 'stream:' .. stream
  if call('EXISTS', key) == 1 then
    call('HSET', key, 'closed_at', closed_at, 'closed_reason', reason)
    hint('s ' .. prefix .. ' ' .. stream)
  end
end

-- Adds lines to the feed, and to the fields of the record they are about, or writes them to one that is not written otherwise.
local function keep_lines(prefix, lines, puts, fields_of)
  for i = 1, #lines, 4 do
    local subject, about, text, event = lines[i], lines[i + 1], lines[i + 2], lines[i + 3]
    local fields = fields_of[subject]
    tell(prefix, fields and puts[(subject - 1) * PUT_WIDTH + 1] or subject, about .. (event or text))
    if fields then
      fields.lines = fields.lines + 1
      add_field(fields, FIELDS_OF_HISTORY .. fields.lines, text)
    else
      tell_alone(prefix .. subject, text)
    end
  end
end

-- Writes the records of a transaction, each with the lines and blobs that belong to it. found: what stood of them.
local function write_puts(tx, found)
  local prefix, puts, fields_of = tx[1], tx[5], {}
  for i, before in ipairs(found) do
    local fields = empty_fields(i, tonumber(before[7]) or 0)
    index_put(prefix, puts, (i - 1) * PUT_WIDTH + 1, before, fields)
    fields_of[i] = fields
  end
  if tx[7] then keep_lines(prefix, tx[7], puts, fields_of) end
  if tx[12] then keep_blobs(prefix, tx[12], puts, fields_of) end
  for i, before in ipairs(found) do
    local at, fields, lines = (i - 1) * PUT_WIDTH + 1, fields_of[i], tonumber(before[7]) or 0
    local key, ttl = prefix .. puts[at], puts[at + 8]
    if fields.lines ~= lines then add_field(fields, 'lines', fields.lines) end
    call('HSET', key, unpack(fields, 1, fields.count))
    if ttl then call('PEXPIRE', key, ttl) end
    trim_lines(key, lines, fields.lines)
  end
end

-- Whether an execution that is written never had a stream.
local function is_without_streams(puts, found, name)
  for i, before in ipairs(found) do
    if puts[(i - 1) * PUT_WIDTH + 1] == name then return before[8] == '' end
  end
  return false
end

-- Streams that end.
local function end_streams(tx, found)
  local ends = tx[11]
  for i = 1, #ends, 4 do
    if not is_without_streams(tx[5], found, 'execution:' .. ends[i]) then end_stream(tx[1], unpack(ends, i, i + 3)) end
  end
end

local function stands_at_zero(prefix, name, field)
  return tonumber(call('HGET', prefix .. name, field) or 0) == 0
end

local function apply(tx, puts, deletes)
  local prefix = tx[1]
  local index, answer = prefix .. INDEX, {'ok', changed(prefix)}
  write_puts(tx, puts)
  for _, member in ipairs(tx[15] or NONE) do remove_from(index, member) end
  for _, member in ipairs(tx[16] or NONE) do add_to(index, '0', member) end
  for i, increment in ipairs(tx[8] or NONE) do
    answer[i + 2] = call('HINCRBY', prefix .. increment[1], increment[2], increment[3])
  end
  if tx[11] then end_streams(tx, puts) end
  for i, delete in ipairs(tx[6] or NONE) do delete_record(prefix, delete[1], deletes[i]) end
  for _, uuid in ipairs(tx[13] or NONE) do delete_remains(prefix, uuid) end
  for _, clear in ipairs(tx[10] or NONE) do
    if call('HGET', prefix .. STAMPS, clear[1]) == clear[2] then forget_nudge(prefix, clear[1]) end
  end
  for _, it in ipairs(tx[9] or NONE) do
    if not it[2] or stands_at_zero(prefix, it[2], it[3]) then nudge(prefix, it[1]) end
  end
  return answer
end

-- Whether the transaction that is being tried may have written something.
local has_begun

local function attempt(tx)
  local refusal, found_puts, found_deletes = judge(tx)
  if refusal then return refusal end
  has_begun = true
  return apply(tx, found_puts, found_deletes)
end

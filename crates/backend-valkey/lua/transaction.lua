-- A transaction, all or nothing:
--   {prefix, generation or false, not_after or false, guards, puts, deletes, lines, increments, nudges, clear_nudges,
--    stream_ends, blobs, remains, queues_max or false, leaves, enters}
--   guards, deletes, in a row: name, version or ''
--   puts, in a row: name, expected version or '', version, body, due, rest of the head, score or false, queue, see queue_for, ttl or
--    false, state, created or false, lane; created only of executions, and instead of a lane of others whether they have a history
--   lines, in a row: subject, about, text, event or false; a subject is the number of the put it is about, or a name; about is
--    what stands between a name and a line in the feed
--   increments, in a row: subject, number of counters, their names, how far each moves
--   nudges: {name, counter name or false, field} …
--   clear_nudges: {name, stamp} …             stream_ends, in a row: uuid, attempt index, at, reason
--   blobs, in a row: name of the hash, field, number of the argument with the bytes, type or false
--   remains: uuids                            leaves, enters: members of the index that go, and that come
--
-- Lists that are empty come as false. What is in a row has no table for each: making tables is much of what a call costs.

local PUT_WIDTH = 12
local NOTHING = {'', '', '', '', '', '', '', ''}

-- Whether the time to live of a record is over: it is gone then, whether or not the server has dropped it yet. Only what idempotency
-- keys stand for has one.
local function is_over(prefix, name)
  if not string.find(name, '_key:', 1, true) then return false end
  local moment = call('HGET', prefix .. name, 'expires')
  return moment and tonumber(moment) <= now
end

-- What stands of a record: {lines, streams, version, due, state, set of its queue, score there, rest of the head}, '' where there is
-- nothing. `is_new` says that nothing should.
local function peek(prefix, name, is_new, has_history)
  local key, head, lines, streams = prefix .. name, nil, '', ''
  if is_new and call('EXISTS', key) == 0 then return NOTHING end
  if has_history then
    local found = call('HMGET', key, 'head', 'lines', 'streams')
    head, lines, streams = found[1], found[2] or '', found[3] or ''
  else
    head = call('HGET', key, 'head')
  end
  if head and is_over(prefix, name) then
    call('UNLINK', key)
    return NOTHING
  end
  if not head then return {lines, streams, '', '', '', '', '', ''} end
  return {lines, streams, string.match(head, HEAD_PARTS)}
end

local function version_of(prefix, name)
  local head = call('HGET', prefix .. name, 'head')
  return head and not is_over(prefix, name) and string.match(head, '^%S*') or ''
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
  local guards, deletes = tx[4] or NONE, tx[6] or NONE
  for at = 1, #guards, 2 do
    number = number + 1
    local found = version_of(prefix, guards[at])
    if found ~= guards[at + 1] then return {'conflict', number, found} end
  end
  for at = 1, #puts, PUT_WIDTH do
    number = number + 1
    local expected = puts[at + 1]
    local found = peek(prefix, puts[at], expected == '', puts[at + 11])
    if found[3] ~= expected then return {'conflict', number, found[3]} end
    found_puts[#found_puts + 1] = found
  end
  for at = 1, #deletes, 2 do
    number = number + 1
    local found = peek(prefix, deletes[at], false, false)
    if found[3] ~= deletes[at + 1] then return {'conflict', number, found[3]} end
    found_deletes = found_deletes or {}
    found_deletes[at] = found
  end
  if tx[3] and now >= tx[3] then return {'too_late'} end
  if tx[14] and overflows(prefix, puts, tx[14]) then return {'too_many_queues'} end
  return nil, found_puts, found_deletes
end

-- Fields that will be written, of the nth record of a transaction. Most write few, so their tables are used again by the next one.
local fields_of_first, FIRST = {}, 4

-- lines: how many lines of history the record has.
local function empty_fields(number, lines)
  local fields = fields_of_first[number] or {count = 0, lines = 0}
  if number <= FIRST then fields_of_first[number] = fields end
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
  local name, _, version, body, due, rest, score, queue, ttl, state, created, lane = unpack(puts, at, at + PUT_WIDTH - 1)
  local _, _, version_before, due_before, state_before, set_before, place_before, rest_before = unpack(before)
  if created then
    if version_before == '' then add_to(prefix .. EXECUTIONS, created, name) end
    count_depth(prefix, lane, state_before, state, 1)
  elseif rest ~= rest_before then
    if rest_before ~= '' then remove_from(prefix .. INDEX, rest_before) end
    add_to(prefix .. INDEX, '0', rest)
  end
  local set, place = move(prefix, name, set_before, place_before, score, queue)
  schedule(prefix, name, due_before, due)
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
  local _, _, _, due, state, set, _, rest = unpack(before)
  if set ~= '' then leave(prefix, name, set) end
  if not uuid and rest ~= '' then remove_from(prefix .. INDEX, rest) end
  schedule(prefix, name, due, '')
  forget_nudge(prefix, name)
  if uuid then
    count_depth(prefix, string.match(rest, '^%S*'), state, '', 1)
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

-- Moves the counters of a record that the transaction writes, with its other fields: one that was not there has none.
local function count_with(key, fields, is_new, row, at, n)
  local values = is_new and {} or call('HMGET', key, unpack(row, at, at + n - 1))
  for i = 1, n do
    values[i] = tonumber(values[i] or 0) + row[at + n + i - 1]
    add_field(fields, row[at + i - 1], values[i])
  end
  return values
end

-- Moves counters, and adds their new values to the answer.
local function count_all(prefix, row, puts, found, fields_of, answer)
  local at = 1
  while at <= #row do
    local subject, n, values = row[at], row[at + 1], nil
    local fields = fields_of[subject]
    if fields then
      local key = prefix .. puts[(subject - 1) * PUT_WIDTH + 1]
      values = count_with(key, fields, found[subject] == NOTHING, row, at + 2, n)
    else
      values = move_counters(prefix .. subject, row, at + 2, n)
    end
    for i = 1, n do answer[#answer + 1] = values[i] end
    at = at + 2 + 2 * n
  end
end

-- Writes the records of a transaction, each with the lines, counters and blobs that belong to it. found: what stood of them.
local function write_puts(tx, found, answer)
  local prefix, puts, fields_of = tx[1], tx[5], {}
  for i, before in ipairs(found) do
    local fields = empty_fields(i, tonumber(before[1]) or 0)
    index_put(prefix, puts, (i - 1) * PUT_WIDTH + 1, before, fields)
    fields_of[i] = fields
  end
  if tx[7] then keep_lines(prefix, tx[7], puts, fields_of) end
  if tx[8] then count_all(prefix, tx[8], puts, found, fields_of, answer) end
  if tx[12] then keep_blobs(prefix, tx[12], puts, fields_of) end
  for i, before in ipairs(found) do
    local at, fields, lines = (i - 1) * PUT_WIDTH + 1, fields_of[i], tonumber(before[1]) or 0
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
    if puts[(i - 1) * PUT_WIDTH + 1] == name then return before[2] == '' end
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
  write_puts(tx, puts, answer)
  for _, member in ipairs(tx[15] or NONE) do remove_from(index, member) end
  for _, member in ipairs(tx[16] or NONE) do add_to(index, '0', member) end
  if tx[11] then end_streams(tx, puts) end
  for at = 1, #(tx[6] or NONE), 2 do delete_record(prefix, tx[6][at], deletes[at]) end
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

-- append: a list of frames, each one only under the live lease it names.
--
-- ask[4]: appends; each
--   {prefix, uuid, attempt index, epoch, lease id, attempt id, frames kept, kept for or false, key or false,
--    time to live or false, summary document or false, revision it was computed from, entry}
--   entry: the fields of the frame, as field, value, field, value …
-- answers, one each: {'ok' | 'repeated', frame id, frames kept now} | {'stale'} | {'closed'} | {'conflict', revision}
--
-- frames: part of a stream, without frames whose time is over.
--
-- ask[4]: prefix   ask[5]: "<uuid>:<attempt index>"   ask[6], ask[7]: first and last frame id   ask[8]: how many at most
-- answers {frames, summary, revision, closed_at, closed_reason}; a frame is {id, fields}

-- How many frames are read at once, because they are deleted or may have to be left out: they may be large.
local FRAMES_CHUNK = 16

local function stream_at(prefix, uuid, index)
  local name = uuid .. ':' .. index
  return {
    name = name,
    frames = prefix .. 'frames:' .. name,
    about = prefix .. 'stream:' .. name,
    expiring = prefix .. 'expiring:' .. name,
  }
end

local function field_of(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
end

-- Why the holder of this fence may not append to this attempt; nil when it may. What decides is the field that
-- src/record/attempt.rs writes.
local function fence_refuses(append, attempt)
  local index, state, rest = string.match(attempt or '', '^(%d+) (%a+) ?(.*)$')
  if not index then return 'stale' end
  local asked, current = tonumber(append[3]), tonumber(index)
  if asked < current or (asked == current and state == 'ended') then return 'closed' end
  if asked ~= current or state ~= 'leased' then return 'stale' end
  local epoch, expires_at, lease_id, attempt_id = string.match(rest, '^(%d+) (%d+) (%S+) (%S+)$')
  if tonumber(expires_at) <= now then return 'stale' end
  if epoch ~= append[4] or lease_id ~= append[5] or attempt_id ~= append[6] then return 'stale' end
end

-- Deletes frames with what is noted about them.
local function forget_frames(stream, found)
  local ids, keys = {}, {}
  for i, frame in ipairs(found) do
    ids[i] = frame[1]
    local key = field_of(frame[2], 'key')
    if key then keys[#keys + 1] = 'key:' .. key end
  end
  call('XDEL', stream.frames, unpack(ids))
  call('ZREM', stream.expiring, unpack(ids))
  if #keys > 0 then call('HDEL', stream.about, unpack(keys)) end
end

-- Deletes the first frames up to an id, at most so many.
local function forget_first(stream, last, most)
  while most > 0 do
    local chunk = math.min(most, FRAMES_CHUNK)
    local found = call('XRANGE', stream.frames, '-', last, 'COUNT', chunk)
    if #found > 0 then forget_frames(stream, found) end
    if #found < chunk then return end
    most = most - chunk
  end
end

local function forget_expired(stream)
  while true do
    local ids = call('ZRANGEBYSCORE', stream.expiring, '-inf', now_text, 'LIMIT', 0, FRAMES_CHUNK)
    for _, id in ipairs(ids) do
      local found = call('XRANGE', stream.frames, id, id)
      if #found > 0 then forget_frames(stream, found) else call('ZREM', stream.expiring, id) end
    end
    if #ids < FRAMES_CHUNK then return end
  end
end

-- Trims by number and by age; answers how many are left.
local function trim_frames(stream, keep_frames, keep_for)
  local count = call('XLEN', stream.frames)
  forget_first(stream, '+', count - keep_frames)
  if keep_for and keep_for < now then
    forget_first(stream, '(' .. integer(now - keep_for) .. '-0', count)
  end
  return call('XLEN', stream.frames)
end

-- Adds a frame after all that were there, whatever the clock says.
local function push_frame(stream, append, last)
  local entry, about = append[13], {}
  local function note(field, value)
    about[#about + 1] = field
    about[#about + 1] = value
  end
  local expires_at = append[10] and moment_in(append[10])
  if expires_at then
    entry[#entry + 1] = 'until'
    entry[#entry + 1] = expires_at
  end
  local millis = string.match(last or '', '^%d+')
  if not millis or tonumber(millis) < now then millis = now_text end
  local id = call('XADD', stream.frames, millis .. '-*', unpack(entry))
  note('last', id)
  if append[9] then note('key:' .. append[9], id) end
  if append[11] then note('summary', append[11]) end
  call('HSET', stream.about, unpack(about))
  if append[11] then call('HINCRBY', stream.about, 'revision', 1) end
  if expires_at then call('ZADD', stream.expiring, expires_at, id) end
  return id
end

local function append_one(append)
  local prefix, index = append[1], append[3]
  local execution = prefix .. 'execution:' .. append[2]
  local holder = call('HMGET', execution, 'head', 'streams')
  local _, _, _, _, _, rest = string.match(holder[1] or '', HEAD_PARTS)
  local attempt = string.match(rest or '', '^%S* %S* %S* ([^\n]*)')
  local refusal = fence_refuses(append, attempt)
  if refusal then return {refusal} end

  local stream = stream_at(prefix, append[2], index)
  forget_expired(stream)
  local found = call('HMGET', stream.about, 'last', 'revision', 'key:' .. (append[9] or ''))
  if append[9] and found[3] then return {'repeated', found[3], call('XLEN', stream.frames)} end
  if append[11] and (found[2] or '0') ~= append[12] then return {'conflict', found[2] or '0'} end

  changed(prefix)
  if not found[1] then
    local others = holder[2] and holder[2] .. ' ' or ''
    call('HSET', execution, 'streams', others .. index)
  end
  local id = push_frame(stream, append, found[1])
  -- Once more for a frame that was to live no time at all.
  if append[10] == 0 then forget_expired(stream) end
  hint('s ' .. prefix .. ' ' .. stream.name)
  return {'ok', id, trim_frames(stream, append[7], append[8])}
end

offer('append', function(ask)
  local answers = {}
  for i, append in ipairs(ask[4]) do answers[i] = append_one(append) end
  return answers
end)

local function is_over(fields)
  local expires_at = field_of(fields, 'until')
  return expires_at and tonumber(expires_at) <= now
end

offer('frames', function(ask)
  local prefix, name, from, most = ask[4], ask[5], ask[6], ask[8]
  local frames = {}
  while #frames < most do
    local asked = most - #frames
    local found = call('XRANGE', prefix .. 'frames:' .. name, from, ask[7], 'COUNT', asked)
    for _, frame in ipairs(found) do
      if not is_over(frame[2]) then frames[#frames + 1] = frame end
    end
    if #found < asked then break end
    from = '(' .. found[#found][1]
  end
  local about = call('HMGET', prefix .. 'stream:' .. name, 'summary', 'revision', 'closed_at', 'closed_reason')
  return {frames, about[1], about[2], about[3], about[4]}
end, {'no-writes'})

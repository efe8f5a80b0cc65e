-- Budgets and quota policies: limits, kept as hashes with plain fields.
--
-- Reports, admissions and releases are worked out here, in one step each. Everything else is worked out by the caller, who
-- reads the fields and writes those that change if the limit still has the revision that was read.
--
-- A call reads each limit once and writes it once, however many of its items are about it.

-- A limit as it stands. One that was never created has no fields.
local function read_limit(prefix, name)
  local before, fields = {}, {}
  local found = call('HGETALL', prefix .. name)
  for i = 1, #found, 2 do
    before[found[i]], fields[found[i]] = found[i + 1], found[i + 1]
  end
  return {prefix = prefix, name = name, before = before, fields = fields}
end

-- The limit, read by the first item about it; later ones see what earlier ones changed.
local function touch(touched, prefix, name)
  local key = prefix .. name
  touched[key] = touched[key] or read_limit(prefix, name)
  return touched[key]
end

-- The fields as name, value, name, value …
local function fields_of(touched, prefix, name)
  local limit = touched[prefix .. name]
  if not limit then return call('HGETALL', prefix .. name) end
  local found = {}
  for field, value in pairs(limit.fields) do
    found[#found + 1] = field
    found[#found + 1] = value
  end
  return found
end

-- The fields that changed as name, value …, and the names of those that are gone.
local function differences(before, fields)
  local set, gone = {}, {}
  for field, value in pairs(fields) do
    if before[field] ~= value then
      set[#set + 1] = field
      set[#set + 1] = value
    end
  end
  for field in pairs(before) do
    if not fields[field] then gone[#gone + 1] = field end
  end
  return set, gone
end

-- Writes a limit that changed, moves its timer to due_at(limit), and tells when its generation moved.
local function write_limit(limit, due_at)
  local before, fields, key = limit.before, limit.fields, limit.prefix .. limit.name
  if not limit.is_changed then
    local set, gone = differences(before, fields)
    if #set == 0 and #gone == 0 then return end
  end
  local due = due_at(limit)
  fields.revision = integer(tonumber(before.revision or 0) + 1)
  fields.due = due and integer(due)
  local set, gone = differences(before, fields)
  call('HSET', key, unpack(set))
  if #gone > 0 then call('HDEL', key, unpack(gone)) end
  schedule(limit.prefix, limit.name, before.due or '', fields.due or '')
  if before.generation and before.generation ~= fields.generation then hint('c ' .. limit.name) end
  changed(limit.prefix)
end

-- Changes the fields of a limit as the caller worked them out; answers it, or nil when it has another revision.
-- ask[4]: prefix   ask[5]: name   ask[6]: revision, or '' of one that is new   ask[7]: name, value …   ask[8]: names that go
-- ask[9]: the set of the limits that are not deleted   ask[10]: how this one is named there
local function put_limit(ask)
  local limit = read_limit(ask[4], ask[5])
  local before, fields = limit.before, limit.fields
  if (before.revision or '') ~= ask[6] then return nil end
  local set = ask[7] or {}
  for i = 1, #set, 2 do fields[set[i]] = set[i + 1] end
  for _, field in ipairs(ask[8] or {}) do fields[field] = nil end
  if not before.revision then
    call('ZADD', ask[4] .. ask[9], 0, ask[10])
  elseif fields.deleted_at and not before.deleted_at then
    call('ZREM', ask[4] .. ask[9], ask[10])
    limit.is_deleted_now = true
  end
  return limit
end

local function earlier_of(left, right)
  if not left or (right and right < left) then return right end
  return left
end

-- move_generation: blocked work may have become admissible.
local function move_generation(fields)
  fields.generation = integer(tonumber(fields.generation) + 1)
  fields.generation_at = now_text
end

-- BlockedIn::mark. The text is a JSON object, generations by partition; there is none while nothing waits.
local function mark_blocked(text, partition, generation)
  local entry = '"' .. partition .. '":'
  if not text then return '{' .. entry .. generation .. '}' end
  local marked, count = string.gsub(text, entry .. '%d+', entry .. generation)
  if count == 1 then return marked end
  return '{' .. entry .. generation .. ',' .. string.sub(text, 2)
end

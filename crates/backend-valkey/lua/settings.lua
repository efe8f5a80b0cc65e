-- settings: a list of operations on small shared state, each atomic.
-- read_settings: the same for reading ones alone, which are answered even when the server's memory is full.
--
-- ask[4]: operations
--   {'get', name} | {'list', first, last, how many} | {'put', name, expected, value or false, time to live or false}
--   first, last: ends of a range of names, as ZRANGE … BYLEX takes them
--   expected: 'anything' | 'absent' | a revision
-- answers, one each: {'found', setting} | {'absent'} | {'page', setting, …} | {'conflict', setting or nothing}
--   setting: {name, value, revision, updated_at, expires_at or ''}
--
-- Every server renews its own settings all day long, so a list of operations costs about as many commands as one of them:
-- everything is read at once before, and written at once after.

-- Everything is under one hash tag; values are JSON, which is never taken apart here.
local SETTING_VALUES = '{ff}:setting_values' -- hash, by name: "<revision> <updated_at> <expires_at or nothing> <value>"
local SETTING_NAMES = '{ff}:settings'        -- sorted set, by name
local SETTINGS_EXPIRING = '{ff}:expiring'    -- sorted set: settings by the moment they are gone
local LAST_REVISION = '{ff}:revision'        -- number

-- How many settings are read at once for a page, and forgotten at most by a call.
local SETTINGS_CHUNK = 100

-- What this call has read or written, by name; false where there is nothing.
local known = {}
local next_revision

local function parse_setting(name, packed)
  if not packed then return false end
  local revision, updated_at, expires_at, value = string.match(packed, '^(%d+) (%d+) (%d*) (.*)$')
  if expires_at ~= '' and tonumber(expires_at) <= now then return false end
  return {name, value, revision, updated_at, expires_at}
end

local function learn_settings(names)
  local unknown = {}
  for _, name in ipairs(names) do
    if known[name] == nil then
      unknown[#unknown + 1] = name
      known[name] = false
    end
  end
  if #unknown == 0 then return end
  for i, packed in ipairs(values_of(SETTING_VALUES, unknown)) do known[unknown[i]] = parse_setting(unknown[i], packed) end
end

-- The time in microseconds, or more: even a counter that a failover set back gives no revision again.
local function reserve_revisions(count)
  next_revision = math.max(tonumber(call('GET', LAST_REVISION) or 0) + 1, now * 1000)
  call('SET', LAST_REVISION, integer(next_revision + count - 1))
end

local function forget_setting(name)
  local gone = waiting_for('HDEL', SETTING_VALUES)
  gone[#gone + 1] = name
  remove_from(SETTING_NAMES, name)
  remove_from(SETTINGS_EXPIRING, name)
end

local function put_setting(name, value, ttl)
  local found = known[name]
  local revision, expires_at = integer(next_revision), ttl and moment_in(ttl) or ''
  next_revision = next_revision + 1
  local values = waiting_for('HSET', SETTING_VALUES)
  local n = #values
  values[n + 1], values[n + 2] = name, table.concat({revision, now_text, expires_at, value}, ' ')
  if not found then add_to(SETTING_NAMES, 0, name) end
  if ttl then
    add_to(SETTINGS_EXPIRING, expires_at, name)
  elseif not found or found[5] ~= '' then
    remove_from(SETTINGS_EXPIRING, name)
  end
  return {name, value, revision, now_text, expires_at}
end

local function list_settings(first, last, most)
  settle_set(SETTING_NAMES)
  local page = {'page'}
  while #page <= most do
    local names = call('ZRANGE', SETTING_NAMES, first, last, 'BYLEX', 'LIMIT', 0, SETTINGS_CHUNK)
    learn_settings(names)
    for _, name in ipairs(names) do
      if #page <= most and known[name] then page[#page + 1] = known[name] end
    end
    if #names < SETTINGS_CHUNK then break end
    first = '(' .. names[#names]
  end
  return page
end

local function is_expected(found, expected)
  if expected == 'anything' then return true end
  if expected == 'absent' then return not found end
  return found and found[3] == expected
end

local function run_setting(op)
  if op[1] == 'list' then return list_settings(op[2], op[3], op[4]) end
  local name = op[2]
  local found = known[name]
  if op[1] == 'get' then return found and {'found', found} or {'absent'} end
  if not is_expected(found, op[3]) then return {'conflict', found or nil} end
  if found or op[4] then hint('k ' .. name) end
  if op[4] then
    known[name] = put_setting(name, op[4], op[5])
    return {'found', known[name]}
  end
  known[name] = false
  if found then forget_setting(name) end
  return {'absent'}
end

local function run_settings(ask)
  local answers, names, puts = {}, {}, 0
  for _, op in ipairs(ask[4] or {}) do
    if op[1] ~= 'list' then names[#names + 1] = op[2] end
    if op[1] == 'put' and op[4] then puts = puts + 1 end
  end
  known = {}
  learn_settings(names)
  if puts > 0 then reserve_revisions(puts) end
  for i, op in ipairs(ask[4] or {}) do answers[i] = run_setting(op) end
  return answers
end

offer('settings', function(ask)
  local expired = call('ZRANGEBYSCORE', SETTINGS_EXPIRING, '-inf', now_text, 'LIMIT', 0, SETTINGS_CHUNK)
  for _, name in ipairs(expired) do forget_setting(name) end
  return run_settings(ask)
end)

offer('read_settings', run_settings, {'no-writes'})

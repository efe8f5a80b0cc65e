-- settings: a list of operations on small shared state, each atomic.
-- read_settings: the same for reading ones alone, which are answered even when the server's memory is full.
--
-- ask[4]: operations
--   {'get', name} | {'list', first, last, how many} | {'put', name, expected, value, time to live or false}
--   | {'delete', name, expected}
--   first, last: ends of a range of names, as ZRANGE … BYLEX takes them
--   expected: 'anything' | 'absent' | a revision
-- answers, one each: {'found', setting} | {'absent'} | {'page', setting, …} | {'conflict', setting or nothing}
--   setting: {name, value, revision, updated_at, expires_at or ''}

-- Everything is under one hash tag; values are JSON, which is never taken apart here.
local SETTING = '{ff}:setting:'              -- hash: a setting
local SETTING_NAMES = '{ff}:settings'        -- sorted set, by name
local SETTINGS_EXPIRING = '{ff}:expiring'    -- sorted set: settings by the moment they are gone
local LAST_REVISION = '{ff}:revision'        -- number

-- How many settings are read at once for a page, and forgotten at most by a call.
local SETTINGS_CHUNK = 100

local function find_setting(name)
  local found = call('HMGET', SETTING .. name, 'value', 'revision', 'updated_at', 'expires_at')
  if not found[1] or (found[4] and tonumber(found[4]) <= now) then return nil end
  return {name, found[1], found[2], found[3], found[4] or ''}
end

local function forget_setting(name)
  call('UNLINK', SETTING .. name)
  call('ZREM', SETTING_NAMES, name)
  call('ZREM', SETTINGS_EXPIRING, name)
end

-- The time in microseconds, or more: even a counter that a failover set back gives no revision again.
local function next_revision()
  local last = tonumber(call('GET', LAST_REVISION) or 0)
  local revision = integer(math.max(last + 1, now * 1000))
  call('SET', LAST_REVISION, revision)
  return revision
end

local function put_setting(name, value, ttl)
  forget_setting(name)
  local key, revision, expires_at = SETTING .. name, next_revision(), ''
  call('HSET', key, 'value', value, 'revision', revision, 'updated_at', now_text)
  call('ZADD', SETTING_NAMES, 0, name)
  if ttl then
    expires_at = moment_in(ttl)
    call('HSET', key, 'expires_at', expires_at)
    call('ZADD', SETTINGS_EXPIRING, expires_at, name)
    -- Only frees memory earlier: what counts is the moment above.
    call('PEXPIRE', key, integer(ttl))
  end
  return {name, value, revision, now_text, expires_at}
end

local function list_settings(first, last, most)
  local page = {'page'}
  while #page <= most do
    local names = call('ZRANGE', SETTING_NAMES, first, last, 'BYLEX', 'LIMIT', 0, SETTINGS_CHUNK)
    for _, name in ipairs(names) do
      if #page <= most then page[#page + 1] = find_setting(name) end
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
  local found = find_setting(name)
  if op[1] == 'get' then return found and {'found', found} or {'absent'} end
  if not is_expected(found, op[3]) then return {'conflict', found} end
  if found or op[1] == 'put' then hint('k ' .. name) end
  if op[1] == 'put' then return {'found', put_setting(name, op[4], op[5])} end
  forget_setting(name)
  return {'absent'}
end

local function run_settings(ask)
  local answers = {}
  for i, op in ipairs(ask[4] or {}) do answers[i] = run_setting(op) end
  return answers
end

offer('settings', function(ask)
  local expired = call('ZRANGEBYSCORE', SETTINGS_EXPIRING, '-inf', now_text, 'LIMIT', 0, SETTINGS_CHUNK)
  for _, name in ipairs(expired) do forget_setting(name) end
  return run_settings(ask)
end)

offer('read_settings', run_settings, {'no-writes'})

-- What every function shares while it runs: the store's time, the generation, changes and hints.
--
-- The server runs one function at a time, so this state belongs to the call that began last.

local call               -- redis.call, which exists only while a function runs
local now                -- the store's time in milliseconds
local now_text           -- the same as text: Lua would print large numbers with an exponent
local feed_lines_max     -- lines a feed keeps
local arguments          -- all arguments: large values stand beside the packed one

local NONE = {}          -- an empty list, never written to

local last_call_at
local generation = ''

-- A node that nobody called for this long may have been a replica meanwhile and missed writes.
local SILENCE_MS = 1000

local function integer(number)
  return string.format('%d', number)
end

-- The moment so long from now, as text. No moment is later than the last that a double tells from the next.
local MOMENT_MAX = 9007199254740991

local function moment_in(span)
  return integer(math.min(now + span, MOMENT_MAX))
end

-- Begins a call. ask: [1] milliseconds to add to the clock, [2] channel of hints, [3] lines a feed keeps.
local function begin(ask)
  call = redis.call
  local time = call('TIME')
  local wall = time[1] * 1000 + math.floor(time[2] / 1000)
  if not last_call_at or wall < last_call_at or wall - last_call_at > SILENCE_MS then
    generation = integer(time[1] * 1000000 + time[2])
  end
  last_call_at = wall
  now = wall + ask[1]
  now_text = integer(now)
  feed_lines_max = ask[3]
end

-- How often each partition was written to since this library was loaded: a sweep skips those that stand still.
local changes = {}

local function changed(prefix)
  local count = (changes[prefix] or 0) + 1
  changes[prefix] = count
  return count
end

local hinted = {}
local hint_is_noted = {}

-- Tells every listener once, when the call is done.
local function hint(text)
  if not hint_is_noted[text] then
    hint_is_noted[text] = true
    hinted[#hinted + 1] = text
  end
end

local function send_hints(channel)
  if #hinted > 0 then
    call('PUBLISH', channel, table.concat(hinted, '\n'))
  end
end

-- What a call does last, whether it went well or not: a mistake in one transaction must not tear another.
local finish = function() end

-- What went wrong while a call was finished, by the prefix of the partition.
local torn = {}

local function reason(problem)
  return type(problem) == 'table' and problem.err or tostring(problem)
end

-- Does a step of finishing with a key. One that fails, because somebody wrote over the key, keeps no other from being done.
local function finish_with(key, step, ...)
  local went_well, problem = pcall(step, ...)
  if not went_well then torn[string.match(key, '^{[^}]*}:') or key] = reason(problem) end
end

-- Makes a function of the library: body takes the ask after its first three values and answers.
-- Every reply is {time, generation, answer}.
local function offer(name, body, flags)
  redis.register_function{
    function_name = 'ff_' .. name .. '_' .. DIGEST,
    callback = function(_, args)
      local ask = cmsgpack.unpack(args[1])
      hinted, hint_is_noted, torn = {}, {}, {}
      begin(ask)
      arguments = args
      local went_well, answer = pcall(body, ask)
      finish()
      if not went_well then error(answer) end
      local _, problem = next(torn)
      if problem then error(problem) end
      send_hints(ask[2])
      return {now_text, generation, answer}
    end,
    flags = flags,
  }
end

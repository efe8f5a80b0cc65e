-- libraries: notes that this library is in use, and tells which others nobody has used for long.
--
-- ask[4]: name of this library   ask[5]: names of all that are loaded   ask[6]: how long one may be unused, in milliseconds
-- answers the names of those that can go

local LIBRARIES = '{ff}:libraries'           -- sorted set: libraries by their last use

offer('libraries', function(ask)
  call('ZADD', LIBRARIES, now_text, ask[4])
  -- One that was never seen may be in use by another database: its time begins now.
  for _, name in ipairs(ask[5] or {}) do call('ZADD', LIBRARIES, 'NX', now_text, name) end
  local unused = call('ZRANGEBYSCORE', LIBRARIES, '-inf', integer(now - ask[6]))
  if #unused > 0 then call('ZREM', LIBRARIES, unpack(unused)) end
  return unused
end)

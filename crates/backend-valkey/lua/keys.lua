-- The keys of a partition, after its prefix: "{fp:12}:". src/keys.rs lists them for people.

local DUE = 'due'            -- sorted set: records by the moment they need attention
local NUDGED = 'nudged'      -- sorted set: records that were nudged, by when
local STAMPS = 'stamps'      -- hash: the last nudge of each record; field "last" counts nudges, "told" lines of the feed, "trimmed" is when its last one was dropped, and its time
local QUEUES = 'queues'      -- sorted set, by name: non-empty queues with their signatures
local EXECUTIONS = 'executions'  -- sorted set: executions by creation
local INDEX = 'index'        -- sorted set, by name: entries of lists, and what belongs to executions
local DEPTH = 'depth:'       -- hash for each namespace: executions by lane and state
local FEED = 'feed'          -- stream: what happened
local FIELDS_OF_HISTORY = 'h:'

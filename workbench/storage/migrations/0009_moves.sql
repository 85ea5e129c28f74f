-- The generation that the whole library was told to move to; a move that was cut off goes on from here. One that
-- only some papers have, because somebody brought another embedder, is not here. At most one row.
CREATE TABLE moves (
    generation INTEGER NOT NULL,
    begun_at   TIMESTAMPTZ NOT NULL DEFAULT now()
);

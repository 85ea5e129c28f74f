-- Notes, who shares which paper, and each user's own bibliographic data.

CREATE TABLE notes (
    paper_id   BIGINT PRIMARY KEY,
    user_name  VARCHAR NOT NULL,       -- who wrote it, and alone may change it
    body       VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- A paper is shared as long as somebody shares it; papers.shared says the same in short.
CREATE TABLE shares (
    paper_id  BIGINT NOT NULL,
    user_name VARCHAR NOT NULL,
    shared_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (paper_id, user_name)
);

INSERT INTO shares (paper_id, user_name)
SELECT p.paper_id, coalesce(arg_min(l.user_name, l.added_at), '')
FROM papers p LEFT JOIN library_links l USING (paper_id)
WHERE p.shared GROUP BY p.paper_id;

-- What a user's .bib or .ris file says of a paper. It stands before what the paper's own file says, for that
-- user alone. No key: DuckDB refuses to update list columns under one.
CREATE TABLE bibliography (
    user_name  VARCHAR NOT NULL,
    paper_id   BIGINT NOT NULL,
    cite_key   VARCHAR,
    entry_type VARCHAR NOT NULL,
    title      VARCHAR,
    authors    VARCHAR[] NOT NULL,
    year       INTEGER,
    doi        VARCHAR,
    fields     JSON NOT NULL          -- the other fields, name to text: journal, volume, pages, url …
);

-- The library's first schema. No foreign keys: DuckDB refuses delete-then-insert and updates of list
-- columns under them (facts in README, "How it keeps your library"); each deletion is one transaction in
-- storage/ instead.

CREATE SEQUENCE paper_ids START 1;
CREATE SEQUENCE chunk_ids START 1;
CREATE SEQUENCE project_ids START 1;
CREATE SEQUENCE ledger_ids START 1;
CREATE SEQUENCE retrieval_ids START 1;
CREATE SEQUENCE revisions START 1;

CREATE TABLE papers (
    paper_id   BIGINT PRIMARY KEY DEFAULT nextval('paper_ids'),
    sha256     VARCHAR NOT NULL UNIQUE,
    kind       VARCHAR NOT NULL,
    title      VARCHAR NOT NULL,
    authors    VARCHAR[] NOT NULL,
    year       INTEGER,
    doi        VARCHAR,
    page_unit  VARCHAR NOT NULL,
    page_count INTEGER NOT NULL,
    chunk_count INTEGER NOT NULL,
    generation INTEGER,               -- of its vectors; NULL while it has none
    shared     BOOLEAN NOT NULL DEFAULT false,
    added_at   TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- A user's link to a paper, with the name that user added it under.
CREATE TABLE library_links (
    user_name VARCHAR NOT NULL,
    paper_id  BIGINT NOT NULL,
    file      VARCHAR NOT NULL,
    source_id VARCHAR,
    title     VARCHAR,                -- this user's own title; NULL: the paper's
    added_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (user_name, paper_id)
);

-- The file's bytes in pieces, so that a large one is never held whole.
CREATE TABLE sources (
    paper_id BIGINT NOT NULL,
    part     INTEGER NOT NULL,
    data     BLOB NOT NULL
);

CREATE TABLE pages (
    paper_id   BIGINT NOT NULL,
    page       INTEGER NOT NULL,
    label      VARCHAR,
    text       VARCHAR USING COMPRESSION uncompressed NOT NULL,
    char_start BIGINT NOT NULL,
    char_end   BIGINT NOT NULL
);

-- Texts of chunks and pages are kept uncompressed: DuckDB's choice, FSST, makes fetching 115 passages of
-- 200,000 ten to twenty times slower and saves a third of their space.
CREATE TABLE chunks (
    chunk_id   BIGINT NOT NULL DEFAULT nextval('chunk_ids'),
    paper_id   BIGINT NOT NULL,
    ordinal    INTEGER NOT NULL,
    heading    VARCHAR,
    blurb      VARCHAR USING COMPRESSION uncompressed NOT NULL,
    text       VARCHAR USING COMPRESSION uncompressed NOT NULL,
    page_start INTEGER NOT NULL,
    page_end   INTEGER NOT NULL,
    char_start BIGINT NOT NULL,
    char_end   BIGINT NOT NULL
);

-- One row per embedder the library has used. Its vectors are in table vectors_<generation>, made when the
-- row is, because DuckDB's fixed-size arrays need the dimension in the column's type.
CREATE TABLE generations (
    generation INTEGER PRIMARY KEY,
    embedder   VARCHAR NOT NULL,
    dimension  INTEGER NOT NULL,
    serving    BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE projects (
    project_id  BIGINT PRIMARY KEY DEFAULT nextval('project_ids'),
    user_name   VARCHAR NOT NULL,
    name        VARCHAR NOT NULL,
    name_key    VARCHAR NOT NULL,     -- casefolded, so that names are unique whatever their case
    description VARCHAR,
    goal        VARCHAR,
    status      VARCHAR NOT NULL DEFAULT 'active',
    created_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (user_name, name_key)
);

CREATE TABLE project_papers (
    project_id BIGINT NOT NULL,
    paper_id   BIGINT NOT NULL,
    user_name  VARCHAR NOT NULL,
    added_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, paper_id)
);

-- What derived indexes catch up from: the last content change of each paper, kept after its removal.
CREATE TABLE paper_changes (
    paper_id BIGINT PRIMARY KEY,
    revision BIGINT NOT NULL,
    present  BOOLEAN NOT NULL
);

CREATE TABLE ledger (
    ledger_id   BIGINT PRIMARY KEY DEFAULT nextval('ledger_ids'),
    user_name   VARCHAR NOT NULL,
    file        VARCHAR NOT NULL,
    sha256      VARCHAR,
    paper_id    BIGINT,
    stage       VARCHAR NOT NULL,     -- read, chunk, embed, index
    state       VARCHAR NOT NULL,     -- done, failed
    error       VARCHAR,
    seconds     DOUBLE NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE retrievals (
    retrieval_id   BIGINT PRIMARY KEY DEFAULT nextval('retrieval_ids'),
    user_name      VARCHAR NOT NULL,
    query          VARCHAR NOT NULL,
    rag_project_id BIGINT,
    parameters     JSON NOT NULL,
    timing         JSON NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE retrieval_passages (
    retrieval_id BIGINT NOT NULL,
    n            INTEGER,             -- NULL: a candidate that was dropped
    chunk_id     BIGINT NOT NULL,
    paper_id     BIGINT NOT NULL,
    relevance    DOUBLE NOT NULL,
    vector_rank  INTEGER,
    keyword_rank INTEGER,
    reason       VARCHAR              -- why it was dropped
);

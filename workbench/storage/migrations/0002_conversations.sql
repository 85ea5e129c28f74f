-- Conversations, memories, project summaries.

CREATE SEQUENCE conversation_ids START 1;
CREATE SEQUENCE message_ids START 1;
CREATE SEQUENCE memory_ids START 1;

ALTER TABLE projects ADD COLUMN auto_summary VARCHAR;
ALTER TABLE projects ADD COLUMN summary_updated_at TIMESTAMPTZ;

CREATE TABLE conversations (
    conversation_id BIGINT PRIMARY KEY DEFAULT nextval('conversation_ids'),
    user_name       VARCHAR NOT NULL,
    kind            VARCHAR NOT NULL,   -- thread; project: that project's one rolling chat; paper: one paper's
    title           VARCHAR,            -- NULL until the first question gives one
    rag_project_id  BIGINT,             -- the stored form of its scope; fixed where kind is project
    paper_id        BIGINT,             -- where kind is paper
    notice          VARCHAR,            -- what the user should be told once, such as a deleted project
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    used_at         TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- An answer keeps all that it showed, so that its numbers open the right pages whatever happens to the
-- papers later.
CREATE TABLE messages (
    message_id      BIGINT PRIMARY KEY DEFAULT nextval('message_ids'),
    conversation_id BIGINT NOT NULL,
    role            VARCHAR NOT NULL,   -- user, assistant
    text            VARCHAR NOT NULL,
    rag_project_id  BIGINT,             -- the scope it was asked in
    answer          JSON,               -- the Answer record of an assistant's message
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- The revision of each paper that an answer cites, to tell later whether it changed or left.
CREATE TABLE message_papers (
    message_id BIGINT NOT NULL,
    paper_id   BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    PRIMARY KEY (message_id, paper_id)
);

CREATE TABLE memories (
    memory_id  BIGINT PRIMARY KEY DEFAULT nextval('memory_ids'),
    user_name  VARCHAR NOT NULL,
    project_id BIGINT,                  -- NULL: of no project
    text       VARCHAR NOT NULL,
    text_key   VARCHAR NOT NULL,        -- its terms, to merge what says the same
    message_id BIGINT,                  -- the turn it came from
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    seen_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Labelled questions, evaluations on them, and each project's named sets of search parameters.

CREATE SEQUENCE question_ids START 1;
CREATE SEQUENCE evaluation_ids START 1;

CREATE TABLE questions (
    question_id BIGINT PRIMARY KEY DEFAULT nextval('question_ids'),
    user_name   VARCHAR NOT NULL,
    project_id  BIGINT,              -- NULL: of no project
    label       VARCHAR NOT NULL,    -- its id in a file of questions
    type        VARCHAR NOT NULL,    -- single, cross, unanswerable, or a word of the user's
    question    VARCHAR NOT NULL,
    answer      VARCHAR NOT NULL,
    note        VARCHAR NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Where an answer stands. paper_id is there where the label was made on a paper of this library; the file's
-- name is kept beside it, for labels of a file and for papers that have left.
CREATE TABLE question_gold (
    question_id BIGINT NOT NULL,
    ordinal     INTEGER NOT NULL,
    paper_id    BIGINT,
    file        VARCHAR NOT NULL,
    page        INTEGER NOT NULL,
    phrase      VARCHAR NOT NULL
);

CREATE TABLE evaluations (
    evaluation_id  BIGINT PRIMARY KEY DEFAULT nextval('evaluation_ids'),
    user_name      VARCHAR NOT NULL,
    rag_project_id BIGINT,
    scope_label    VARCHAR NOT NULL, -- as it was called then
    questions      INTEGER NOT NULL,
    options        JSON NOT NULL,    -- answers, provider, confidence, resamples, seed
    seconds        DOUBLE NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- One row per set of parameters and metric. Set 0 is the one that the others are compared with.
CREATE TABLE evaluation_results (
    evaluation_id   BIGINT NOT NULL,
    set_number      INTEGER NOT NULL,
    parameters      JSON NOT NULL,
    metric          VARCHAR NOT NULL,
    mean            DOUBLE,
    low             DOUBLE,
    high            DOUBLE,
    questions       INTEGER NOT NULL,
    difference      DOUBLE,
    difference_low  DOUBLE,
    difference_high DOUBLE,
    p               DOUBLE
);

-- The same, question by question: part of whole.
CREATE TABLE evaluation_scores (
    evaluation_id BIGINT NOT NULL,
    set_number    INTEGER NOT NULL,
    label         VARCHAR NOT NULL,  -- the question's id
    question      VARCHAR NOT NULL,
    metric        VARCHAR NOT NULL,
    part          DOUBLE NOT NULL,
    whole         DOUBLE NOT NULL
);

-- At most one of a project's presets is chosen.
CREATE TABLE presets (
    user_name  VARCHAR NOT NULL,
    project_id BIGINT NOT NULL,
    name       VARCHAR NOT NULL,
    name_key   VARCHAR NOT NULL,
    parameters JSON NOT NULL,        -- name to number, only what the preset sets
    chosen     BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

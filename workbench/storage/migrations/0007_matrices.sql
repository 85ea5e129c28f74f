-- Matrix questions: the same questions put to each paper of a scope, with an answer per paper and question.

CREATE SEQUENCE matrix_ids START 1;

CREATE TABLE matrices (
    matrix_id      BIGINT PRIMARY KEY DEFAULT nextval('matrix_ids'),
    user_name      VARCHAR NOT NULL,
    rag_project_id BIGINT,           -- the stored form of its scope
    questions      JSON NOT NULL,    -- texts, in their order
    options        JSON NOT NULL,    -- the call's own search parameters, and its provider
    created_at     TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- One answer. It is asked again where the paper has another revision by now, or another provider would answer.
CREATE TABLE matrix_cells (
    matrix_id  BIGINT NOT NULL,
    question   INTEGER NOT NULL,     -- its place among the questions, from 0
    paper_id   BIGINT NOT NULL,
    revision   BIGINT NOT NULL,      -- the paper's, from before it was asked
    provider   VARCHAR NOT NULL,
    cell       JSON NOT NULL,        -- the MatrixRow
    asked_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (matrix_id, question, paper_id)
);

-- Where answers go once there are some more. DuckDB writes the last block of rows of a table anew at every
-- change of it: with all answers in messages, each turn would cost more than the one before.
CREATE TABLE kept_answers (
    message_id BIGINT NOT NULL,
    answer     JSON NOT NULL
);

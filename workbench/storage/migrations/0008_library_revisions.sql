-- Every revision the library has been at. A library that is copied, changed, and put back from the copy has two
-- histories; random steps keep them from coming to the same number with other papers, and an index whose number
-- is not here was built from the other one. Numbers given so far went up by one, so the library gets a new one.
CREATE TABLE library_revisions (
    revision BIGINT NOT NULL
);

INSERT INTO library_revisions
SELECT max(revision) + 1 + floor(random() * 2147483648)::BIGINT FROM paper_changes HAVING count(*) > 0;

DROP SEQUENCE revisions;

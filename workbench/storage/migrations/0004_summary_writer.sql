-- Who wrote a project's summary: "extractive", or the chat model's name. One that a chat model wrote is not
-- replaced by the papers' own words only because no chat model is at hand.

ALTER TABLE projects ADD COLUMN summary_by VARCHAR;

"""What is known of papers from elsewhere: reading .bib and .ris, matching, and writing citations. Pure."""

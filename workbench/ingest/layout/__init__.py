"""From the lines of a PDF page to text in reading order. Pure: values in, values out."""

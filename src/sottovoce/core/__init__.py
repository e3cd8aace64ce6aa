"""All that a device needs to randomise and to audit: domains, exact integers, the stream, what reports."""

"""The pages of a collector: a dashboard, a survey page and administration, with everything they load.

    /                  the dashboard
    /admin             administration, with an admin token
    /survey/{name}     where a person answers; the value is randomised in their browser
    /static/…          scripts and styles, plotly.js from the installed plotly package
    /v1/planner        what the dashboard's planner computes with (static/planner.json)

Pages are fixed files: what they show they fetch from the HTTP interface. Nothing comes from elsewhere, the
content security policy says so, and no cookie is set.
"""

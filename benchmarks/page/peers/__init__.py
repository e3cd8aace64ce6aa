"""What is measured of each peer, one file each; a file imports its peer inside its functions only.

    DISTRIBUTIONS   the packages whose versions are reported
    REQUIRES        what pip installs for it, with the reasons for bounds that the peer itself does not state
    SPEED           {name: f(ε)}: a function of values, timed only
    PRIVATISERS     the same, but it returns noisy numbers: timed, and its error simulated on [0, 1]
    LAWS            {name of a privatiser: row of the exact table that it should agree with}
    HISTOGRAMS      {name: f(ε)}: (report, estimate), everybody's reports and the probabilities of equal bins

The first line of the file says what the peer is, that of a function what the operation is. They are the
words of the benchmarks page, and the functions are its listing.
"""

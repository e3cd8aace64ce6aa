CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.campaigns (
    id integer NOT NULL,
    name character varying(63) NOT NULL,
    digest character varying(64) NOT NULL,
    spec text NOT NULL,
    settings text NOT NULL
);
CREATE SEQUENCE public.campaigns_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.campaigns_id_seq OWNED BY public.campaigns.id;
CREATE TABLE public.counts (
    campaign integer NOT NULL,
    day integer NOT NULL,
    cell integer NOT NULL,
    count bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.days (
    campaign integer NOT NULL,
    day integer NOT NULL,
    reports bigint NOT NULL
)
WITH (fillfactor='20');
CREATE TABLE public.keys (
    id bytea NOT NULL,
    body bytea NOT NULL,
    campaign integer NOT NULL,
    accepted integer NOT NULL,
    expires integer NOT NULL
);
CREATE TABLE public.pending (
    campaign integer NOT NULL,
    day integer NOT NULL,
    cells bytea NOT NULL
)
WITH (fillfactor='20');
CREATE TABLE public.refusals (
    campaign integer NOT NULL,
    day integer NOT NULL,
    code character varying(32) NOT NULL,
    count bigint NOT NULL
);
CREATE TABLE public.tokens (
    hash bytea NOT NULL,
    campaign integer NOT NULL,
    kind character varying(9) NOT NULL,
    spent boolean NOT NULL
);
ALTER TABLE ONLY public.campaigns ALTER COLUMN id SET DEFAULT nextval('public.campaigns_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0001');
INSERT INTO public.campaigns VALUES (2, 'commute', 'ff18eb78a17afafef711ea8bffdb87dc0140391ddc1ae850efb0b40d9e2cb59f', '{"bits":52,"cells":{"background":[44481529893649],"count":[64],"extra":[76431804518314],"step":[0.02362759179692102],"value":[-0.24426914160301205]},"circle":false,"domain":[0.0,120.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3234853774995136],"step":false,"t":[0.0,1.0]}}', '{"closes": "2999-01-01T00:00:00Z", "collection": "write", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 45.0, "opens": null, "operator": "", "out_of_range": "missing", "question": "", "results": "public", "retention_days": null, "title": "Your way", "unit": ""}');
INSERT INTO public.campaigns VALUES (3, 'hours', '5113cd7f35fba91fc39ab5233bfe489ed239d3c30f17e253dbacc4a4dd502663', '{"bits":50,"cells":{"background":[6903257142404],"count":[60],"extra":[44105297148162],"step":[0.016666666666666666],"value":[0.00833333333333336]},"circle":true,"domain":[0.0,24.0],"epsilon":2.0,"format":"window/1","start":{"s":[2290465589740528,4936783418630248],"step":false,"t":[0.0,1.0]}}', '{"closes": null, "collection": "enrolment", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 12.0, "opens": null, "operator": "", "out_of_range": "clip", "question": "", "results": "public", "retention_days": null, "title": "", "unit": ""}');
INSERT INTO public.campaigns VALUES (4, 'coin', 'a6374fd5f50d4da4c47a46a5d342deb6576a5068806fde051eec61ad41386f47', '{"format":"mixture/1","parts":[{"bits":52,"cells":{"background":[48248363131942],"count":[64],"extra":[82904285622509],"step":[0.021311224934805938],"value":[-0.17130358544638702]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3890169892914368],"step":false,"t":[0.0,1.0]}},{"bits":51,"cells":{"background":[27195343942384],"count":[64],"extra":[46729265314892],"step":[0.018847194129723365],"value":[-0.09368661508628595]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,2479375178780416],"step":false,"t":[0.0,1.0]}}],"weights":[614,410]}', '{"closes": null, "collection": "write", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 12.0, "opens": null, "operator": "", "out_of_range": "clip", "question": "", "results": "public", "retention_days": 900, "title": "", "unit": ""}');
INSERT INTO public.counts VALUES (2, 20458, 3, 30);
INSERT INTO public.counts VALUES (2, 20458, 9, 30);
INSERT INTO public.counts VALUES (2, 20458, 40, 30);
INSERT INTO public.counts VALUES (2, 20459, 6, 70);
INSERT INTO public.counts VALUES (2, 20459, 5, 5);
INSERT INTO public.counts VALUES (4, 20459, 1, 66);
INSERT INTO public.days VALUES (2, 20458, 90);
INSERT INTO public.days VALUES (3, 20458, 3);
INSERT INTO public.days VALUES (2, 20459, 75);
INSERT INTO public.days VALUES (4, 20459, 66);
INSERT INTO public.keys VALUES ('\x91d21a8d5f4f3bf1bbf55c4d411ed29b', '\x70df6ea4114c957da044371588cd4ee0', 2, 90, 20466);
INSERT INTO public.keys VALUES ('\x3a3f82a27fe00cff0ada467e38949e25', '\x2945a52e0bc8241fbf87087b3743b7f6', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\xa458b4d417d098342f81bf2acd21e5cb', '\x0e2514fc646bd4bec7052329aa38d44b', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x17c2a5b37b7e43f106bb7a3fdb60b165', '\x088a67e2153f535e5047c3e91455e3e0', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x3a82633c11efd0b0a7885dfa5b0b7f26', '\x7142368242f13c38486bb7a4c53ec166', 2, 70, 20467);
INSERT INTO public.keys VALUES ('\x2e2dff4057835e736bd3b12999d2ee22', '\x9fa8b039dc7aa748178af71a8e7cb412', 2, 5, 20467);
INSERT INTO public.keys VALUES ('\x6d86f50c851ce597f06b61ea1c85ffcb', '\xdc6a62ae21cfa28cb21428d7a9fc00c3', 4, 66, 20467);
INSERT INTO public.pending VALUES (3, 20458, '\x070000000700000008000000');
INSERT INTO public.refusals VALUES (2, 20458, 'cell_out_of_range', 1);
INSERT INTO public.tokens VALUES ('\x65e5a1c3221af4fe47a132879b6e1b045396f340a410a0af22f3bcda92fda47f', 2, 'write', false);
INSERT INTO public.tokens VALUES ('\xa7b15e9ac5dba3b1cd59fbb970b7376fbf5880aedb2a315e7a91b0918b8a2a4a', 3, 'enrolment', false);
INSERT INTO public.tokens VALUES ('\x569000c0cb3ca4ceaf9456759aca37d4f67c55e8d2d67d6ba43d77764ec92b0f', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\xce0cf46a927ceddef32da7b5da29285f8509623d78d6fabb5be3967be1da17d8', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x3fa16f970abaa103eeb847681cf0b3f5a5003ca719b43f3db891b4e6d3f4c396', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x9f87189c060a4ec58508e429cabded2e6af5071350a1cc8982cfcdf2c4ebd9fc', 4, 'write', false);
SELECT pg_catalog.setval('public.campaigns_id_seq', 4, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_name_key UNIQUE (name);
ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.counts
    ADD CONSTRAINT counts_pkey PRIMARY KEY (campaign, day, cell);
ALTER TABLE ONLY public.days
    ADD CONSTRAINT days_pkey PRIMARY KEY (campaign, day);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.pending
    ADD CONSTRAINT pending_pkey PRIMARY KEY (campaign, day);
ALTER TABLE ONLY public.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (campaign, day, code);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (hash);
CREATE INDEX keys_expires ON public.keys USING btree (expires);
CREATE INDEX tokens_campaign ON public.tokens USING btree (campaign);

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
INSERT INTO public.alembic_version VALUES ('0002');
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
INSERT INTO public.keys VALUES ('\x17a16fac2f786f073736183ebebfcdb2', '\xcae9a7a88f5f3db326846caa143e3876', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x5828584108446aef417dd762d9d5d456', '\x051c1fa0aed89b8391030d443e24355c', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x4a3237cbbe9f950795f3f91ed5f4d59c', '\xeecb72cfcf20615f378bf2b3aeb0e2bb', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\xb59019df3cfbb81b4a395c34dae92e20', '\x0e4df262df8249490f2aa955c6b2ae4d', 2, 70, 20467);
INSERT INTO public.keys VALUES ('\x1c70aa3a6b1c76a5809de25ed5578063', '\xd138ff12d530429f6aaa8d872f3ddf58', 2, 5, 20467);
INSERT INTO public.keys VALUES ('\x53baa1aa0855e3006e59ea3335c5c268', '\xc9dacec8cb873f6117476e934085f8db', 4, 66, 20467);
INSERT INTO public.pending VALUES (3, 20458, '\x070000000700000008000000');
INSERT INTO public.refusals VALUES (2, 20458, 'cell_out_of_range', 1);
INSERT INTO public.tokens VALUES ('\x0180afbbab55087e94cdfa07ac768f8aeb0d86071a6ce46927971075067e8752', 2, 'write', false);
INSERT INTO public.tokens VALUES ('\x29b94b49eafa3135def0b6af06e62adacfd350891b7835c01bfa38143e863a36', 3, 'enrolment', false);
INSERT INTO public.tokens VALUES ('\x61bfb53a1db32ab60a204f946b6fc961bfacd096f8857e4e4be3034369c12db7', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x7cc72b96aff24d8d5d34ded47d8c408001f33dd1d91070f2955969efb8f19156', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x0da6eeebc533509298b4e92d9e59c9ef2fc83b2b6d348ed4684b41fd00974504', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\xc07d84b5cfe342fe5107a30988bb92cd7fb5e56f3ee5aae06441605952e30866', 4, 'write', false);
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

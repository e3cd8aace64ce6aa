CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.campaigns (
    id integer NOT NULL,
    name character varying(63) NOT NULL,
    digest character varying(64) NOT NULL,
    spec text NOT NULL,
    rules text NOT NULL
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
INSERT INTO public.alembic_version VALUES ('0003');
INSERT INTO public.campaigns VALUES (2, 'commute', 'ff18eb78a17afafef711ea8bffdb87dc0140391ddc1ae850efb0b40d9e2cb59f', '{"bits":52,"cells":{"background":[44481529893649],"count":[64],"extra":[76431804518314],"step":[0.02362759179692102],"value":[-0.24426914160301205]},"circle":false,"domain":[0.0,120.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3234853774995136],"step":false,"t":[0.0,1.0]}}', '{"title":"Your way","question":"","operator":"","unit":"","collection":"write","outside":"missing","opens":null,"closes":"2999-01-01T00:00:00Z","results":"public","min_n":1,"retention_days":null,"missing":45.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO public.campaigns VALUES (3, 'hours', '462144a82d71a09e516d57ecc0a0dcbb785380ec35fe9f7172dce3e2cf2cc35a', '{"bits":50,"cells":{"background":[5663263137916],"count":[60],"extra":[36182905891151],"step":[0.016666666666666666],"value":[0.00833333333333336]},"circle":true,"domain":[0.0,24.0],"epsilon":2.0,"format":"window/1","start":{"s":[1777922294185228,3948896647654288],"step":false,"t":[0.0,1.0]}}', '{"title":"","question":"","operator":"","unit":"","collection":"enrolment","outside":"clip","opens":null,"closes":null,"results":"public","min_n":1,"retention_days":null,"missing":12.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO public.campaigns VALUES (4, 'coin', 'a6374fd5f50d4da4c47a46a5d342deb6576a5068806fde051eec61ad41386f47', '{"format":"mixture/1","parts":[{"bits":52,"cells":{"background":[48248363131942],"count":[64],"extra":[82904285622509],"step":[0.021311224934805938],"value":[-0.17130358544638702]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3890169892914368],"step":false,"t":[0.0,1.0]}},{"bits":51,"cells":{"background":[27195343942384],"count":[64],"extra":[46729265314892],"step":[0.018847194129723365],"value":[-0.09368661508628595]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,2479375178780416],"step":false,"t":[0.0,1.0]}}],"weights":[614,410]}', '{"title":"","question":"","operator":"","unit":"","collection":"write","outside":"clip","opens":null,"closes":null,"results":"public","min_n":1,"retention_days":900,"missing":12.0,"created":"2026-01-05T00:00:00Z"}');
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
INSERT INTO public.keys VALUES ('\xe5fad20e1527134a5c0cd38ec1798987', '\x1657b3e000ea070c7810520c79ce2ebc', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x5d0c5ca9e4b6d2d91ae588e84a6f8bc8', '\x16465d160693741a77bec011c000a495', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x0e350d1f3f351659594e9d669e00f585', '\x87bb4ee7b2ef572174ed8fd4e1e84a6d', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x1318492ad41c6f2d336a656fb22ca747', '\xaca12a2937438e45b4e7b78a94242d6c', 2, 70, 20467);
INSERT INTO public.keys VALUES ('\x856fa6b854f75e6f4ec7564f0f35c9ca', '\x873ea6e3d096d2752924f195e2828f87', 2, 5, 20467);
INSERT INTO public.keys VALUES ('\x32ac3ca4391101d19c2a3890f7ccb956', '\xc081a6694ff5e9a2029c3603a3451ce9', 4, 66, 20467);
INSERT INTO public.pending VALUES (3, 20458, '\x070000000700000008000000');
INSERT INTO public.refusals VALUES (2, 20458, 'cell_out_of_range', 1);
INSERT INTO public.tokens VALUES ('\xb820fce59cf4d7cd5e8701f82c23dd202e9be98b26c59903d598027ba94e799e', 2, 'write', false);
INSERT INTO public.tokens VALUES ('\xb22657abcac9e2669e813334f4479648d9c3f5d0c981a57183dc0552a31a1f5b', 3, 'enrolment', false);
INSERT INTO public.tokens VALUES ('\xde4e4fda7b1ff88f740fb68047deecf908ec36656d7df5b1e32c33c25fa53acd', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x10c2e7894df8d6bf202bc6a7001d46fe7076582abcac8a46bec5f0f444ac2740', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x5799c98e765674791907498ca822912d50d8acaffc4ae8c6e163c2e46504fd9d', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x8cd1c70c8038ab4f1fe27c2d8dc24e0eee04f4cb78dd2a7d5f63098bd8e6ea9c', 4, 'write', false);
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

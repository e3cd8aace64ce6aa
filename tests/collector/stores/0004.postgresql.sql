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
CREATE TABLE public.facts (
    name character varying(16) NOT NULL,
    content text NOT NULL
);
CREATE TABLE public.keys (
    id bytea NOT NULL,
    body bytea NOT NULL,
    campaign integer NOT NULL,
    accepted integer NOT NULL,
    expires integer NOT NULL
);
CREATE TABLE public.pool (
    campaign integer NOT NULL,
    content bytea NOT NULL
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
INSERT INTO public.alembic_version VALUES ('0004');
INSERT INTO public.campaigns VALUES (2, 'commute', 'ff18eb78a17afafef711ea8bffdb87dc0140391ddc1ae850efb0b40d9e2cb59f', '{"bits":52,"cells":{"background":[44481529893649],"count":[64],"extra":[76431804518314],"step":[0.02362759179692102],"value":[-0.24426914160301205]},"circle":false,"domain":[0.0,120.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3234853774995136],"step":false,"t":[0.0,1.0]}}', '{"title":"Your way","question":"","operator":"","unit":"","collection":"write","outside":"missing","opens":null,"closes":"2999-01-01T00:00:00Z","results":"public","min_n":1,"retention_days":null,"missing":45.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO public.campaigns VALUES (3, 'hours', '462144a82d71a09e516d57ecc0a0dcbb785380ec35fe9f7172dce3e2cf2cc35a', '{"bits":50,"cells":{"background":[5663263137916],"count":[60],"extra":[36182905891151],"step":[0.016666666666666666],"value":[0.00833333333333336]},"circle":true,"domain":[0.0,24.0],"epsilon":2.0,"format":"window/1","start":{"s":[1777922294185228,3948896647654288],"step":false,"t":[0.0,1.0]}}', '{"title":"","question":"","operator":"","unit":"","collection":"enrolment","outside":"clip","opens":null,"closes":null,"results":"public","min_n":1,"retention_days":null,"missing":12.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO public.campaigns VALUES (4, 'coin', 'a6374fd5f50d4da4c47a46a5d342deb6576a5068806fde051eec61ad41386f47', '{"format":"mixture/1","parts":[{"bits":52,"cells":{"background":[48248363131942],"count":[64],"extra":[82904285622509],"step":[0.021311224934805938],"value":[-0.17130358544638702]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3890169892914368],"step":false,"t":[0.0,1.0]}},{"bits":51,"cells":{"background":[27195343942384],"count":[64],"extra":[46729265314892],"step":[0.018847194129723365],"value":[-0.09368661508628595]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,2479375178780416],"step":false,"t":[0.0,1.0]}}],"weights":[614,410]}', '{"title":"","question":"","operator":"","unit":"","collection":"write","outside":"clip","opens":null,"closes":null,"results":"public","min_n":1,"retention_days":900,"missing":12.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO public.counts VALUES (2, 20458, 3, 30);
INSERT INTO public.counts VALUES (2, 20458, 9, 30);
INSERT INTO public.counts VALUES (2, 20458, 40, 30);
INSERT INTO public.counts VALUES (2, 20459, 6, 70);
INSERT INTO public.counts VALUES (4, 20459, 1, 66);
INSERT INTO public.days VALUES (2, 20458, 90);
INSERT INTO public.days VALUES (2, 20459, 70);
INSERT INTO public.days VALUES (4, 20459, 66);
INSERT INTO public.facts VALUES ('secret', '88fd42d716930e07e9f681dda3887237');
INSERT INTO public.facts VALUES ('day', '20458');
INSERT INTO public.keys VALUES ('\x91d21a8d5f4f3bf1bbf55c4d411ed29b', '\x70df6ea4114c957da044371588cd4ee0', 2, 90, 20466);
INSERT INTO public.keys VALUES ('\xd6b4d56973944584eb1faae01ec2d948', '\x807d3b31aba57d9eb08e914b511faed8', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x03d32f0ffa1673537c146218f9a483a4', '\xde29f8cd6b6e54982c1ef2384ac13da1', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\x154d4812efcfa2be2c166fd88984c636', '\x8a22e9a3a6df5d88035d2fe49841697c', 3, 1, 20466);
INSERT INTO public.keys VALUES ('\xdcddff37b6a5790deeda48aa9b2f8893', '\xe972a5e41627b6026931a14bebee20ee', 2, 70, 20467);
INSERT INTO public.keys VALUES ('\xdecf55e8baf1a0f7f243b2036ea15b5f', '\x3251ba94d7f7112c7438dc3a12c3178d', 2, 5, 20467);
INSERT INTO public.keys VALUES ('\xbf1f0adae4a1c8948b631724108644c0', '\x3f906f129bc5c3f6c080bd1885afd222', 4, 66, 20467);
INSERT INTO public.pool VALUES (3, '\x64cb73e668a87328f9c399672971760def16f383b147dc4edb7dfc06bbeb262cadad0c4b81e3a5db89ac535a0475b19927b1222c5f0dbc8c14a1aa9d');
INSERT INTO public.pool VALUES (2, '\x729b3c255b644332492f6232421916c644bce254162428e18f9fc1e0cecc4a38710714c81d11c3cd17ec44aff3f3aee1467b54c554739e21a31b3ca7096ce400865be85226cb3bffc5c836c4');
INSERT INTO public.refusals VALUES (2, 20458, 'cell_out_of_range', 1);
INSERT INTO public.tokens VALUES ('\xcc3535c5a86b43f355963b65b8851b5e900fff64fa5d9f09c45cd094697ff08c', 2, 'write', false);
INSERT INTO public.tokens VALUES ('\x29ec4c6d3598e4b8330bc4496cc1c0ac01c296e27d45cef030b399c191e6e657', 3, 'enrolment', false);
INSERT INTO public.tokens VALUES ('\x07bc07e4ccc09dccdbb16cc3ad680ab309e179a05c6e0fc676cee9dcf01c56a6', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\xc09d7906d409f5d5f451d804db2cf7adc75fb03ef82e270d961ef74bb78f6697', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\xbf9c2daa586c8a18b48fc150b94b08629b1352f2371fc9737f32cc4c6ee989f3', 3, 'enrolment', true);
INSERT INTO public.tokens VALUES ('\x802e709f576810c67214a3acc6f7b83f688acf97080ebd54482f61f1c45ba71c', 4, 'write', false);
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
ALTER TABLE ONLY public.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (campaign);
ALTER TABLE ONLY public.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (campaign, day, code);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (hash);
CREATE INDEX keys_expires ON public.keys USING btree (expires);
CREATE INDEX tokens_campaign ON public.tokens USING btree (campaign);

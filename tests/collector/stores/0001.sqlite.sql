BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE campaigns (
	id INTEGER NOT NULL, 
	name VARCHAR(63) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	spec TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "campaigns" VALUES(1,'commute','ff18eb78a17afafef711ea8bffdb87dc0140391ddc1ae850efb0b40d9e2cb59f','{"bits":52,"cells":{"background":[44481529893649],"count":[64],"extra":[76431804518314],"step":[0.02362759179692102],"value":[-0.24426914160301205]},"circle":false,"domain":[0.0,120.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3234853774995136],"step":false,"t":[0.0,1.0]}}','{"closes": "2999-01-01T00:00:00Z", "collection": "write", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 45.0, "opens": null, "operator": "", "out_of_range": "missing", "question": "", "results": "public", "retention_days": null, "title": "Your way", "unit": ""}');
INSERT INTO "campaigns" VALUES(2,'hours','5113cd7f35fba91fc39ab5233bfe489ed239d3c30f17e253dbacc4a4dd502663','{"bits":50,"cells":{"background":[6903257142404],"count":[60],"extra":[44105297148162],"step":[0.016666666666666666],"value":[0.00833333333333336]},"circle":true,"domain":[0.0,24.0],"epsilon":2.0,"format":"window/1","start":{"s":[2290465589740528,4936783418630248],"step":false,"t":[0.0,1.0]}}','{"closes": null, "collection": "enrolment", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 12.0, "opens": null, "operator": "", "out_of_range": "clip", "question": "", "results": "public", "retention_days": null, "title": "", "unit": ""}');
INSERT INTO "campaigns" VALUES(3,'coin','a6374fd5f50d4da4c47a46a5d342deb6576a5068806fde051eec61ad41386f47','{"format":"mixture/1","parts":[{"bits":52,"cells":{"background":[48248363131942],"count":[64],"extra":[82904285622509],"step":[0.021311224934805938],"value":[-0.17130358544638702]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3890169892914368],"step":false,"t":[0.0,1.0]}},{"bits":51,"cells":{"background":[27195343942384],"count":[64],"extra":[46729265314892],"step":[0.018847194129723365],"value":[-0.09368661508628595]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,2479375178780416],"step":false,"t":[0.0,1.0]}}],"weights":[614,410]}','{"closes": null, "collection": "write", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 12.0, "opens": null, "operator": "", "out_of_range": "clip", "question": "", "results": "public", "retention_days": 900, "title": "", "unit": ""}');
CREATE TABLE counts (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	cell INTEGER NOT NULL, 
	count BIGINT NOT NULL, 
	PRIMARY KEY (campaign, day, cell)
)
 WITHOUT ROWID

;
INSERT INTO "counts" VALUES(1,20458,3,30);
INSERT INTO "counts" VALUES(1,20458,9,30);
INSERT INTO "counts" VALUES(1,20458,40,30);
INSERT INTO "counts" VALUES(1,20459,5,5);
INSERT INTO "counts" VALUES(1,20459,6,70);
INSERT INTO "counts" VALUES(3,20459,1,66);
CREATE TABLE days (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	reports BIGINT NOT NULL, 
	PRIMARY KEY (campaign, day)
)
 WITHOUT ROWID

;
INSERT INTO "days" VALUES(1,20458,90);
INSERT INTO "days" VALUES(1,20459,75);
INSERT INTO "days" VALUES(2,20458,3);
INSERT INTO "days" VALUES(3,20459,66);
CREATE TABLE keys (
	id BLOB NOT NULL, 
	body BLOB NOT NULL, 
	campaign INTEGER NOT NULL, 
	accepted INTEGER NOT NULL, 
	expires INTEGER NOT NULL, 
	PRIMARY KEY (id)
)
 WITHOUT ROWID

;
INSERT INTO "keys" VALUES(X'16ED66B3B0CB9BC9FBE2B2489F011CF4',X'49F4202143DE59BB1101DA615598C9FC',1,5,20467);
INSERT INTO "keys" VALUES(X'80623FC2919DDF16E1174EBFB5635224',X'050DC3D97E8DDCA70C557DC6BFD6FB46',3,66,20467);
INSERT INTO "keys" VALUES(X'843E5DD89FA0FD1F443C9D02E1683D63',X'7D21D0C4BC82DCF24A61611AECB899AC',1,70,20467);
INSERT INTO "keys" VALUES(X'87821B263D4A532F4E75288D648BB7EC',X'B283F9BC948B402D02DA0A7DA44504AE',2,1,20466);
INSERT INTO "keys" VALUES(X'BB04A50002AEB072518542077C93F0C1',X'89550DCE1FB4A7248730132CD1976DA6',1,90,20466);
INSERT INTO "keys" VALUES(X'BC141CC6EEA627EF4472DA0704B710DD',X'5AB6D2D93CB99D8BC66F3497B112BC5A',2,1,20466);
INSERT INTO "keys" VALUES(X'BFD5BFCB32FC576EF530E774EDACFD5D',X'F9F76D32F9D622E3531231EE0D25F9FE',2,1,20466);
CREATE TABLE pending (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	cells BLOB NOT NULL, 
	PRIMARY KEY (campaign, day)
)
 WITHOUT ROWID

;
INSERT INTO "pending" VALUES(2,20458,X'070000000700000008000000');
CREATE TABLE refusals (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	count BIGINT NOT NULL, 
	PRIMARY KEY (campaign, day, code)
)
 WITHOUT ROWID

;
INSERT INTO "refusals" VALUES(1,20458,'cell_out_of_range',1);
CREATE TABLE tokens (
	hash BLOB NOT NULL, 
	campaign INTEGER NOT NULL, 
	kind VARCHAR(9) NOT NULL, 
	spent BOOLEAN NOT NULL, 
	PRIMARY KEY (hash)
)
 WITHOUT ROWID

;
INSERT INTO "tokens" VALUES(X'27B0AEDD200B79B64F2D9A3E2F6C5107471560BBFB562610A89F187D64E506D1',2,'enrolment',1);
INSERT INTO "tokens" VALUES(X'2E909922FA4BD4B58C51C11900B4AEBF2C02E8965FEF52B5E3CA15E2A8FB312C',3,'write',0);
INSERT INTO "tokens" VALUES(X'300C82ED19351EE089274FE6CEBD0A7CA3BE771FF63B08ED1262B040D14B1253',1,'write',0);
INSERT INTO "tokens" VALUES(X'5FE039B467A6A196C89C3685D6FFB557E8A763DA6D4E42371B89493E8E6E016E',2,'enrolment',1);
INSERT INTO "tokens" VALUES(X'A1C6634638B1A26EC03D5F1C2ADC0DAF3329115D275BE3EE0FE8927341D3E464',2,'enrolment',1);
INSERT INTO "tokens" VALUES(X'D4755E815119FCFA82C148340B02A7B553BC1E0DDA05A929F278A90765CDEF6F',2,'enrolment',0);
CREATE INDEX tokens_campaign ON tokens (campaign);
CREATE INDEX keys_expires ON keys (expires);
COMMIT;

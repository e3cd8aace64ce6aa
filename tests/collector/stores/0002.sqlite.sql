BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE "campaigns" (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(63) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	spec TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	UNIQUE (name)
);
INSERT INTO "campaigns" VALUES(2,'commute','ff18eb78a17afafef711ea8bffdb87dc0140391ddc1ae850efb0b40d9e2cb59f','{"bits":52,"cells":{"background":[44481529893649],"count":[64],"extra":[76431804518314],"step":[0.02362759179692102],"value":[-0.24426914160301205]},"circle":false,"domain":[0.0,120.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3234853774995136],"step":false,"t":[0.0,1.0]}}','{"closes": "2999-01-01T00:00:00Z", "collection": "write", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 45.0, "opens": null, "operator": "", "out_of_range": "missing", "question": "", "results": "public", "retention_days": null, "title": "Your way", "unit": ""}');
INSERT INTO "campaigns" VALUES(3,'hours','5113cd7f35fba91fc39ab5233bfe489ed239d3c30f17e253dbacc4a4dd502663','{"bits":50,"cells":{"background":[6903257142404],"count":[60],"extra":[44105297148162],"step":[0.016666666666666666],"value":[0.00833333333333336]},"circle":true,"domain":[0.0,24.0],"epsilon":2.0,"format":"window/1","start":{"s":[2290465589740528,4936783418630248],"step":false,"t":[0.0,1.0]}}','{"closes": null, "collection": "enrolment", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 12.0, "opens": null, "operator": "", "out_of_range": "clip", "question": "", "results": "public", "retention_days": null, "title": "", "unit": ""}');
INSERT INTO "campaigns" VALUES(4,'coin','a6374fd5f50d4da4c47a46a5d342deb6576a5068806fde051eec61ad41386f47','{"format":"mixture/1","parts":[{"bits":52,"cells":{"background":[48248363131942],"count":[64],"extra":[82904285622509],"step":[0.021311224934805938],"value":[-0.17130358544638702]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3890169892914368],"step":false,"t":[0.0,1.0]}},{"bits":51,"cells":{"background":[27195343942384],"count":[64],"extra":[46729265314892],"step":[0.018847194129723365],"value":[-0.09368661508628595]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,2479375178780416],"step":false,"t":[0.0,1.0]}}],"weights":[614,410]}','{"closes": null, "collection": "write", "created": "2026-01-05T00:00:00Z", "min_n": 1, "missing": 12.0, "opens": null, "operator": "", "out_of_range": "clip", "question": "", "results": "public", "retention_days": 900, "title": "", "unit": ""}');
CREATE TABLE counts (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	cell INTEGER NOT NULL, 
	count BIGINT NOT NULL, 
	PRIMARY KEY (campaign, day, cell)
)
 WITHOUT ROWID

;
INSERT INTO "counts" VALUES(2,20458,3,30);
INSERT INTO "counts" VALUES(2,20458,9,30);
INSERT INTO "counts" VALUES(2,20458,40,30);
INSERT INTO "counts" VALUES(2,20459,5,5);
INSERT INTO "counts" VALUES(2,20459,6,70);
INSERT INTO "counts" VALUES(4,20459,1,66);
CREATE TABLE days (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	reports BIGINT NOT NULL, 
	PRIMARY KEY (campaign, day)
)
 WITHOUT ROWID

;
INSERT INTO "days" VALUES(2,20458,90);
INSERT INTO "days" VALUES(2,20459,75);
INSERT INTO "days" VALUES(3,20458,3);
INSERT INTO "days" VALUES(4,20459,66);
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
INSERT INTO "keys" VALUES(X'185638102B0BCC2F843AC4CE010E3F6D',X'6ABA64ED42D9D7D91E78057455CBF8FE',2,5,20467);
INSERT INTO "keys" VALUES(X'450F296D3DADEEF74F307DA46C764B77',X'6A3679187058FF3A5C2EC7D5A0C00229',2,70,20467);
INSERT INTO "keys" VALUES(X'76122C9E2C87BF3BB11F77CE97194E74',X'5A01C53C050BF8F9DEC7F9E3E01CFB71',3,1,20466);
INSERT INTO "keys" VALUES(X'91D21A8D5F4F3BF1BBF55C4D411ED29B',X'70DF6EA4114C957DA044371588CD4EE0',2,90,20466);
INSERT INTO "keys" VALUES(X'AE21B15EEB75D166B2A8B95E5ED49527',X'0FA20B4E0A3F5AE1B771B3CCFA13390A',3,1,20466);
INSERT INTO "keys" VALUES(X'B0FA80FD9ACFC0281B037B2272FCFE98',X'9AB98754F6F22527442D3526F4F4EAFC',4,66,20467);
INSERT INTO "keys" VALUES(X'D365A1C4404A00DEF7D29FEC281DBD42',X'5C7FE58F1608CA07F49C76B0DBC184EA',3,1,20466);
CREATE TABLE pending (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	cells BLOB NOT NULL, 
	PRIMARY KEY (campaign, day)
)
 WITHOUT ROWID

;
INSERT INTO "pending" VALUES(3,20458,X'070000000700000008000000');
CREATE TABLE refusals (
	campaign INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	count BIGINT NOT NULL, 
	PRIMARY KEY (campaign, day, code)
)
 WITHOUT ROWID

;
INSERT INTO "refusals" VALUES(2,20458,'cell_out_of_range',1);
CREATE TABLE tokens (
	hash BLOB NOT NULL, 
	campaign INTEGER NOT NULL, 
	kind VARCHAR(9) NOT NULL, 
	spent BOOLEAN NOT NULL, 
	PRIMARY KEY (hash)
)
 WITHOUT ROWID

;
INSERT INTO "tokens" VALUES(X'0B891F769DFDDD7738922146291AEE9F277BE7B7A9E608D66DA3B9D30036DE38',2,'write',0);
INSERT INTO "tokens" VALUES(X'2D712706DAEFCA94E6AC34E05A5FD2E7F22CD5527B14877F1F8AE0ABF758A96D',3,'enrolment',1);
INSERT INTO "tokens" VALUES(X'438F45B8B5C997AE20CF40FDA1A336FA1D34F1E9AA535705774591BE19C4982D',3,'enrolment',1);
INSERT INTO "tokens" VALUES(X'7365442BA3B380580FE5BDE03878DF807F7748239A1BE30E7BB131803FE3C9CB',4,'write',0);
INSERT INTO "tokens" VALUES(X'7FFA91BF63602194F6AD79E59D243E47E3F9788B80F23A184846B43A80461F8E',3,'enrolment',1);
INSERT INTO "tokens" VALUES(X'C821F3B53CA581F81F2A11FC9EC3185ADA17F71E021EDE0A6767ED7D75E1AF18',3,'enrolment',0);
CREATE INDEX tokens_campaign ON tokens (campaign);
CREATE INDEX keys_expires ON keys (expires);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('campaigns',4);
COMMIT;

BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE "campaigns" (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(63) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	spec TEXT NOT NULL, 
	rules TEXT NOT NULL, 
	UNIQUE (name)
);
INSERT INTO "campaigns" VALUES(2,'commute','ff18eb78a17afafef711ea8bffdb87dc0140391ddc1ae850efb0b40d9e2cb59f','{"bits":52,"cells":{"background":[44481529893649],"count":[64],"extra":[76431804518314],"step":[0.02362759179692102],"value":[-0.24426914160301205]},"circle":false,"domain":[0.0,120.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3234853774995136],"step":false,"t":[0.0,1.0]}}','{"title":"Your way","question":"","operator":"","unit":"","collection":"write","outside":"missing","opens":null,"closes":"2999-01-01T00:00:00Z","results":"public","min_n":1,"retention_days":null,"missing":45.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO "campaigns" VALUES(3,'hours','462144a82d71a09e516d57ecc0a0dcbb785380ec35fe9f7172dce3e2cf2cc35a','{"bits":50,"cells":{"background":[5663263137916],"count":[60],"extra":[36182905891151],"step":[0.016666666666666666],"value":[0.00833333333333336]},"circle":true,"domain":[0.0,24.0],"epsilon":2.0,"format":"window/1","start":{"s":[1777922294185228,3948896647654288],"step":false,"t":[0.0,1.0]}}','{"title":"","question":"","operator":"","unit":"","collection":"enrolment","outside":"clip","opens":null,"closes":null,"results":"public","min_n":1,"retention_days":null,"missing":12.0,"created":"2026-01-05T00:00:00Z"}');
INSERT INTO "campaigns" VALUES(4,'coin','a6374fd5f50d4da4c47a46a5d342deb6576a5068806fde051eec61ad41386f47','{"format":"mixture/1","parts":[{"bits":52,"cells":{"background":[48248363131942],"count":[64],"extra":[82904285622509],"step":[0.021311224934805938],"value":[-0.17130358544638702]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,3890169892914368],"step":false,"t":[0.0,1.0]}},{"bits":51,"cells":{"background":[27195343942384],"count":[64],"extra":[46729265314892],"step":[0.018847194129723365],"value":[-0.09368661508628595]},"circle":false,"domain":[0.0,24.0],"epsilon":1.0,"format":"window/1","start":{"s":[0,2479375178780416],"step":false,"t":[0.0,1.0]}}],"weights":[614,410]}','{"title":"","question":"","operator":"","unit":"","collection":"write","outside":"clip","opens":null,"closes":null,"results":"public","min_n":1,"retention_days":900,"missing":12.0,"created":"2026-01-05T00:00:00Z"}');
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
INSERT INTO "keys" VALUES(X'11C4B3CF1B798DDDB1FB7B45D0D6BDA4',X'942D8E291D681491ECCA04F03E73353D',2,5,20467);
INSERT INTO "keys" VALUES(X'72A9AECF855EDB4B694E7914BE71CED0',X'17E09E3E19C396BB6381B9F3C2CF13ED',4,66,20467);
INSERT INTO "keys" VALUES(X'91D21A8D5F4F3BF1BBF55C4D411ED29B',X'70DF6EA4114C957DA044371588CD4EE0',2,90,20466);
INSERT INTO "keys" VALUES(X'C334DD18A1499A9F26D997218BA35B4F',X'9848A51A7142DD1CA855FEB3A58D774E',2,70,20467);
INSERT INTO "keys" VALUES(X'C96A4DCA171627B7CC1E436C67BC1211',X'D807A7F48357BC0C5282F5D1443B419F',3,1,20466);
INSERT INTO "keys" VALUES(X'DCFF2446A2627FA295A4D7DB155F6FDA',X'F8982254BBD8C2202A71018597D612E9',3,1,20466);
INSERT INTO "keys" VALUES(X'FFD14381C7E1A7F1AC0854D295BA2B14',X'6EE7D88963ACF3AF1DC2E8C63A7970B1',3,1,20466);
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
INSERT INTO "tokens" VALUES(X'7799A4CAF2A681BEB12444D0D069EF333F929AF3370016EF5573E6029AA45739',4,'write',0);
INSERT INTO "tokens" VALUES(X'7A3BE6FBA909FF23670F8B06B7C700561BA3F62322D26A7D33008FEB8D1AFFDA',3,'enrolment',1);
INSERT INTO "tokens" VALUES(X'B72DD43142B61A25E96DBD0D9C48CF1B4C67602093AF50CFBC589FB047D3DD62',2,'write',0);
INSERT INTO "tokens" VALUES(X'C6724B98D6453171C77543B74CE528747746DDF36FC5FAC47364391541B3E9F6',3,'enrolment',1);
INSERT INTO "tokens" VALUES(X'E51FE8A4BEBD10FCA5ABFC21B23CBC7B07D195D36EEB4C9D9351A00229B4CC43',3,'enrolment',1);
INSERT INTO "tokens" VALUES(X'FEF2CD1D614D04EA75B664E158E254D2BAA49CF0E6E68134A9231EF78249E142',3,'enrolment',0);
CREATE INDEX tokens_campaign ON tokens (campaign);
CREATE INDEX keys_expires ON keys (expires);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('campaigns',4);
COMMIT;

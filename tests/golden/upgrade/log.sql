-- log.sql: the database of an older quipu, as pg_dump wrote it. tests/golden/upgrade/README.md says how it was made.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA conversation_g1;

CREATE SCHEMA log;

CREATE FUNCTION log.ensure_body_month(at_ms bigint, OUT from_ms bigint, OUT to_ms bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
    starts timestamp := date_trunc('month', to_timestamp(at_ms / 1000) at time zone 'UTC');
    part   text      := 'body_' || to_char(starts, 'YYYYMM');
begin
    from_ms := extract(epoch from starts) * 1000;
    to_ms := extract(epoch from starts + interval '1 month') * 1000;
    -- One at a time, over all nodes.
    perform pg_advisory_xact_lock(7170, -1);
    if to_regclass('log.' || part) is null then
        execute format('create table log.%I (like log.body including all)', part);
        execute format('alter table log.body attach partition log.%I for values from (%s) to (%s)', part, from_ms, to_ms);
    end if;
end $$;

CREATE FUNCTION public.add_groups_and_lists(n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    alter table head
        add column mute_all  boolean not null default false,
        add column invite    text not null default 'admins' check (invite in ('admins', 'members')),
        add column dissolved boolean not null default false;

    -- The head when the person last took the conversation out of their list; null is never. Only ever raised.
    alter table watermark add column hidden_seq bigint;

    -- How each person wants a conversation in their list.
    create table setting (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        pinned      boolean not null,
        muted       boolean not null,
        primary key (conv_id, uid)
    ) with (fillfactor = 80);
end
$$;

CREATE FUNCTION public.add_sync(n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    -- The event that raised a read position.
    alter table group_read add column position bigint not null default 0;

    -- Which groups a person has left, and the event that said so. Membership says whether it still counts.
    create table departure (
        uid         bigint not null,
        conv_id     text collate "C" not null,
        position    bigint not null,
        primary key (uid, conv_id)
    );
end
$$;

CREATE FUNCTION public.create_conversation_generation(n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform create_conversation_generation_v4(n);
    perform add_sync(n);
end
$$;

CREATE FUNCTION public.create_conversation_generation_v2(n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    execute format('create schema conversation_g%s', n);
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    -- History, a bucket that is still filling: a row a message.
    create table history_tail (
        conv_id     text collate "C" not null,
        seq         bigint not null,
        body        bytea not null,
        primary key (conv_id, seq)
    ) with (autovacuum_vacuum_scale_factor = 0.05);

    -- History, a full bucket of 100: one zstd row. EXTERNAL, since it is compressed already.
    create table history_bucket (
        conv_id     text collate "C" not null,
        bucket      bigint not null,
        body        bytea not null,
        primary key (conv_id, bucket)
    );
    alter table history_bucket alter column body set storage external;

    -- Messages of the server's own, which are never unread.
    create table system_message (
        conv_id     text collate "C" not null,
        seq         bigint not null,
        primary key (conv_id, seq)
    );

    -- Marks: taken back, for all.
    create table recall (
        conv_id     text collate "C" not null,
        seq         bigint not null,
        by_uid      bigint not null,
        at          bigint not null,
        primary key (conv_id, seq)
    );

    -- Marks: deleted by one person for that person. Slot 0 is the leftmost bit. A row never grows.
    create table deleted (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        bucket      bigint not null,
        bits        bit(100) not null,
        primary key (conv_id, uid, bucket)
    ) with (fillfactor = 80);

    -- How far each has read. Only ever raised; no index but the key's, so that a raise is a HOT update.
    create table group_read (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        read_seq    bigint not null,
        read_at     bigint not null,
        primary key (conv_id, uid)
    ) with (fillfactor = 70);

    -- How far each has cleared. Only ever raised.
    create table watermark (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        cleared_seq bigint not null,
        primary key (conv_id, uid)
    ) with (fillfactor = 80);

    -- One row a conversation, updated with every batch that has a message of it.
    create table head (
        conv_id     text collate "C" primary key,
        kind        text not null check (kind in ('single', 'group')),
        name        text,
        history     text check (history in ('all', 'joined')),
        max_seq     bigint not null,
        expired_seq bigint not null default 0,
        updated_at  bigint not null
    ) with (fillfactor = 70);

    -- Who is in it now. A single chat's two come in with its first message.
    create table member_by_conv (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        role        text not null check (role in ('owner', 'admin', 'member')),
        joined_seq  bigint not null,
        joined_at   bigint not null,
        primary key (conv_id, uid)
    );

    -- The same, by person.
    create table member_by_person (
        uid         bigint not null,
        conv_id     text collate "C" not null,
        joined_seq  bigint not null,
        joined_at   bigint not null,
        primary key (uid, conv_id)
    );

    -- Who is named where; uid 0 is everybody.
    create table mention (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        seq         bigint not null,
        sender      bigint not null,
        primary key (conv_id, uid, seq)
    );
end
$$;

CREATE FUNCTION public.create_conversation_generation_v4(n integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform create_conversation_generation_v2(n);
    perform add_groups_and_lists(n);
end
$$;

CREATE FUNCTION public.move_checkpoint(of_name text, of_generation integer, of_shard integer, old bigint, new bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    update checkpoint set position = new
     where name = of_name and generation = of_generation and shard = of_shard and position = old and old <= new;
    if not found then
        raise exception 'shard % of % does not stand at %', of_shard, of_name, old using errcode = 'QP001';
    end if;
end
$$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE conversation_g1.deleted (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    uid bigint NOT NULL,
    bucket bigint NOT NULL,
    bits bit(100) NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE conversation_g1.departure (
    uid bigint NOT NULL,
    conv_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL
);

CREATE TABLE conversation_g1.group_read (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    uid bigint NOT NULL,
    read_seq bigint NOT NULL,
    read_at bigint NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE conversation_g1.head (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    name text,
    history text,
    max_seq bigint NOT NULL,
    expired_seq bigint DEFAULT 0 NOT NULL,
    updated_at bigint NOT NULL,
    mute_all boolean DEFAULT false NOT NULL,
    invite text DEFAULT 'admins'::text NOT NULL,
    dissolved boolean DEFAULT false NOT NULL,
    CONSTRAINT head_history_check CHECK ((history = ANY (ARRAY['all'::text, 'joined'::text]))),
    CONSTRAINT head_invite_check CHECK ((invite = ANY (ARRAY['admins'::text, 'members'::text]))),
    CONSTRAINT head_kind_check CHECK ((kind = ANY (ARRAY['single'::text, 'group'::text])))
)
WITH (fillfactor='70');

CREATE TABLE conversation_g1.history_bucket (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    bucket bigint NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY conversation_g1.history_bucket ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE conversation_g1.history_tail (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    body bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE conversation_g1.member_by_conv (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    uid bigint NOT NULL,
    role text NOT NULL,
    joined_seq bigint NOT NULL,
    joined_at bigint NOT NULL,
    CONSTRAINT member_by_conv_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text])))
);

CREATE TABLE conversation_g1.member_by_person (
    uid bigint NOT NULL,
    conv_id text NOT NULL COLLATE pg_catalog."C",
    joined_seq bigint NOT NULL,
    joined_at bigint NOT NULL
);

CREATE TABLE conversation_g1.mention (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    uid bigint NOT NULL,
    seq bigint NOT NULL,
    sender bigint NOT NULL
);

CREATE TABLE conversation_g1.recall (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    by_uid bigint NOT NULL,
    at bigint NOT NULL
);

CREATE TABLE conversation_g1.setting (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    uid bigint NOT NULL,
    pinned boolean NOT NULL,
    muted boolean NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE conversation_g1.system_message (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);

CREATE TABLE conversation_g1.watermark (
    conv_id text NOT NULL COLLATE pg_catalog."C",
    uid bigint NOT NULL,
    cleared_seq bigint NOT NULL,
    hidden_seq bigint
)
WITH (fillfactor='80');

CREATE TABLE log.body (
    recorded_at bigint NOT NULL,
    "position" bigint NOT NULL,
    shard smallint NOT NULL,
    salt bytea NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT body_salt_check CHECK ((length(salt) = 16))
)
PARTITION BY RANGE (recorded_at);

CREATE TABLE log.body_202611 (
    recorded_at bigint NOT NULL,
    "position" bigint NOT NULL,
    shard smallint NOT NULL,
    salt bytea NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT body_salt_check CHECK ((length(salt) = 16))
);

CREATE TABLE log.conversation (
    conv_no bigint NOT NULL,
    conv_id text NOT NULL COLLATE pg_catalog."C",
    shard smallint NOT NULL
);

ALTER TABLE log.conversation ALTER COLUMN conv_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME log.conversation_conv_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE log.digest (
    "position" bigint NOT NULL,
    shard smallint NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT digest_digest_check CHECK ((length(digest) = 32))
);

CREATE TABLE log.event (
    stream_id bigint NOT NULL,
    version bigint NOT NULL,
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    actor bigint NOT NULL,
    msg_id bigint,
    create_at bigint,
    event_id uuid NOT NULL,
    correlation_id uuid NOT NULL,
    client_msg_id uuid,
    shard smallint NOT NULL,
    event_type smallint NOT NULL,
    schema_version smallint NOT NULL,
    origin smallint NOT NULL,
    msg_type smallint,
    flags smallint,
    device text,
    chain bytea NOT NULL,
    CONSTRAINT event_chain_check CHECK ((length(chain) = 32)),
    CONSTRAINT event_origin_check CHECK ((origin = ANY (ARRAY[0, 1]))),
    CONSTRAINT event_position_check CHECK (("position" > 0)),
    CONSTRAINT event_version_check CHECK ((version > 0))
);

CREATE TABLE log.info (
    only_one boolean DEFAULT true NOT NULL,
    log_id uuid NOT NULL,
    epoch integer NOT NULL,
    shards smallint NOT NULL,
    shard_function text NOT NULL,
    bucket_size integer NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT info_epoch_check CHECK ((epoch > 0)),
    CONSTRAINT info_only_one_check CHECK (only_one),
    CONSTRAINT info_shards_check CHECK ((shards > 0))
);

CREATE TABLE log.piece (
    stream_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
)
WITH (fillfactor='85');

CREATE VIEW log.readable AS
 SELECT e.shard,
    e."position",
    (((ARRAY['message'::text, 'mark'::text, 'group'::text])[((e.stream_id & (7)::bigint) + 1)] || '-'::text) || c.conv_id) AS stream,
    e.version,
    e.event_type,
    e.schema_version,
    to_timestamp((((e.recorded_at)::numeric / 1000.0))::double precision) AS recorded_at,
    e.actor,
    e.device,
    e.event_id,
    e.correlation_id,
    convert_from(b.bytes, 'UTF8'::name) AS body
   FROM ((log.event e
     JOIN log.conversation c ON ((c.conv_no = (e.stream_id >> 3))))
     LEFT JOIN log.body b ON (((b.shard = e.shard) AND (b."position" = e."position") AND (b.recorded_at = e.recorded_at))));

CREATE TABLE public.checkpoint (
    name text NOT NULL COLLATE pg_catalog."C",
    generation integer NOT NULL,
    shard integer NOT NULL,
    "position" bigint NOT NULL,
    CONSTRAINT checkpoint_position_check CHECK (("position" >= 0))
)
WITH (fillfactor='10');

CREATE TABLE public.instance (
    number integer NOT NULL,
    owner uuid,
    reserved_until bigint NOT NULL,
    CONSTRAINT instance_number_check CHECK (((number >= 0) AND (number <= 1023)))
);

CREATE TABLE public.parked (
    name text NOT NULL COLLATE pg_catalog."C",
    generation integer NOT NULL,
    conv_id text NOT NULL COLLATE pg_catalog."C",
    shard integer NOT NULL,
    "position" bigint NOT NULL,
    event_id uuid NOT NULL,
    reason text NOT NULL,
    parked_at bigint NOT NULL
);

CREATE TABLE public.projection (
    name text NOT NULL COLLATE pg_catalog."C",
    generation integer NOT NULL,
    CONSTRAINT projection_generation_check CHECK ((generation > 0))
);

CREATE TABLE public.refinery_schema_history (
    version integer NOT NULL,
    name character varying(255),
    applied_on character varying(255),
    checksum character varying(255)
);

ALTER TABLE ONLY log.body ATTACH PARTITION log.body_202611 FOR VALUES FROM ('1793491200000') TO ('1796083200000');

INSERT INTO conversation_g1.deleted VALUES
	('p2p-1-2', 2, 0, B'0000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'),
	('p2p-1-2', 2, 1, B'0000000000000000010000000000000000000000000000000000000000000000000000000000000000000000000000000000');

INSERT INTO conversation_g1.group_read VALUES
	('grp-edge', 1, 1, 1704103217000, 0),
	('grp-edge', 2, 2, 1704103219000, 0),
	('grp-edge', 3, 3, 1704103220000, 0),
	('p2p-1-2', 2, 118, 1796067781689, 0),
	('grp-old', 1, 1, 1796067781705, 0),
	('grp-old', 3, 2, 1796067781717, 0),
	('grp-new', 1, 2, 1796067789423, 4),
	('grp-new', 2, 1, 0, 2),
	('grp-new', 3, 1, 0, 2),
	('p2p-1-2', 1, 121, 1796067789714, 125);

INSERT INTO conversation_g1.head VALUES
	('grp-edge', 'group', 'edge', 'all', 3, 0, 1796067780423, false, 'admins', false),
	('grp-old', 'group', 'Old', 'joined', 2, 0, 1796067781717, false, 'admins', false),
	('grp-new', 'group', 'New', 'joined', 2, 0, 1796067789424, false, 'admins', false),
	('p2p-1-2', 'single', NULL, NULL, 121, 0, 1796067789724, false, 'admins', false);

INSERT INTO conversation_g1.history_bucket VALUES
	('p2p-1-2', 0, '\x01fe2628b52ffd607e12b54800248230010100000040835dea5a05029aa8dbdfc5686e77618e606955918f1e79d8c9ee7a7e00000b226d657373616765203022808701bc82048a949a525ab693d431c6634a0694318bdcc89d034bf7815366be151ab84da9ec38328e02f477e432d80e515cb492d3a77ddd73228b33c08f01fe6ea7a573777f5cb98d4c2941bdafab2134009188a930b95f0152005d1eb489cf7691ae4e3035c0028ef382eb69467853e7ac916717c4a3a25b36809501ac7928081ff9c85f8ba2895aae8f696c6237c096b69dd8d8b3ed705c118f29226450f703cb38809a02d44bcb558c5ff952c39bd1e73c1ae39464392231409b01da5eb759152d43552fb0c33a2dad6a59c100000c31309deaab500864f9925099bbe539b079e226f331809f02fc6f2963b333a752549c79b6f86fa14fd932a1018caa2ea5444de80558ceaba2bd01f969f3a333a294f9835068f6a35641ad43801c167bf5cb3440a3029ab914b8f8cc7b52b5b8eab4e01ba3e1013580a401a4aa9c73dfc3a75bf4bea4fc31bd0ae2e436a5ac5e9cc25946aa570085e79aecfe71231c37c0a702beedfa72a7b36657059a04ac4b00a064623880a801c4611210173ac7505f9aaf061094d10de03940aad27aa9a4d8ab045c339120ce77b8a6f3033230ab02dafaefd8f0b9035285bf5087c75afbcf1531ac01e28d0901d5ed1f5dbfb6befdc8ce8cb7c932adeadac01b9d6ef5583592a1937a5f3ac0b133ae02f200ef1bfd38285ac68b9d37c71e0fce6c34af01fa6c0acfc81e0454ecaaf4ae42f761fcd63500b080ab5af5ab5f54e655d7845e40e8791dde5a36c0b1028ed3827f8678ae5ad18e33b66cfd49b0e83740b3019a79f296a00a9158be81424b47bf647f1138c0b4a655a07a2e87635b19a1a0e5265eb129e23980b502ac6964a8ffacf35211b34686c39e6d5fa43330c0b701be65a1cd3a7e6f5df5bad64efcb56418373140b8c2b39bf1435dab5bb098a6876db2913c2a3280b902cc028402e42a425d57aedbfb2d6c8e84943340ba01d27c0e16bbfed9561a9ce04c911b75283234c0d63fd6d9daf2355350aa30b77879ff4dae3540bc02e20e458147f4ba5a639148e6be8c5ec89e3600bd01e8258d32134125529d80bb008c49d07f5f3780bffcc2050003f80e54f1982443011f9f3ada3840c00282ac873061e2f2c052efbfc1a9925b25c93d3980c1018c9dbd0b14f6e7554b8225f176840fbbad3430c0c2965c54fe816a855bbcbd0065c3865dcabd3140c3029ace14cb0a143752c9afa0fd00434725103200c401a002548138c95b5ac495a253a82c4b59053340c5aadc950bf1735b5f5180c4ee4ae995701e34c702ba06682b20ca5d5296b24f6f716608d8e73500c801c08cfe15339da15143b013420e2a9ff4ce36c9c8fb41b09ed79c5d659809a3c67b38271b37c002ce453eaface80755798ef9224a48c0483c3800ca01d08b5990dca73b55958f104ea6da2d18303980cdecadbcfca72dab59ec8e41c9817532a686353040ce02f2910cacfbd815530db80e9cb70cfdfb7431cf01fa346515ee95fe5975a11118b84628401732d082ad439fec78e751514a932519c8b99842b133d20292da229a5628225d26902c243afaad9f6a34c001964a21562bd6ba51829aa9378b5e48706e3540d39a1e098a271a905e6cb147c84d688b51963600d402a0cba243812362586084d4dfb0a423c3ed378001a4446e012f77e35f08b613a4ff33f660fd38c0d6b6902160d8e41f56c387ed227ad0dfab183940d702ba07b7c1793dad595e80efe1535d96b502363080d801c4bd6d6e9cd98a53af98c01be7bc8ea3363140d9cabcd72b8823415e8ab5ad1a4d4eb1091d32db02da6c71144aacd056d2997753934dd1dfea3300dc01e04daf6c75cfdc53b89f2a04644f2c8dab3480e45041f892ae295422a3c155e15358761535de02f48e3191afd18552acaf1e08615337e9453640df01faac86ddf51acc5749a42602673e7e5d9937e18aae56ca957294b653788c72b5515fa0ee9f38e202922e94f9de2c985605b8f0a3ac4a2617263900e301988f08063591055b718766b5183d1856b6373040e4a2b6d5b1ea0be9566890b9b9e0f909ffca3100e502a8ab86ec86dd315b7ab2ad9827f810bc66328001acb6d2318cbf0a5a069ee96b601714e3463300e6b0a55771e5914f535a8e946e633a06938d3440e702ba863b0f8f2f285c0fb97494fb224aa92435c001bed949a10098695eb79fbaf09f5a8880293680e8c4b8ff9c56f34b5207828557754438f4cb3740ec02e2403429f651ff5ec395952e0e0030565538c001e6c775595a9ff059ad9c0f5c2dbe58d53e39edeeba8b87ec48425c789b2d907db97d9023383040ee02f203b93d9e1f1450afa968cf9446a169943180f00184af7201f0e125f659a1a82fbf9e61fd51e23200f1881ec57a90d76f514a946d7a00efc58e5f33c0028e24556218c8cf5da3901c5dedf2a424f03440f20192a4b7d05200cd52bea795d53023f943ed3500f5a853e36c4d87a35347a33f3c0ee5bce3723680f602b4e39d37a1f68451018d4f12f7a71e64eb3740f701bace995c5106d85703b3e5ae2eed9ba59738c0be23837ba24b6f5b49977b2e7214f847ed3980f802c4784a844979785d7ca011a426c6c5f8fb393000f901c8f0807a60d0d45b0a954ea6fd180d303b3180cc41319de5984e5b6b89de787536a8ae823200fa02d0d2c4e7e9f34e55328402c71a4ff7fc9e33c001d61e3edb84a43c529780448e4a66baa37d3440fbdae428c58c8b3956739026f0f67a8ad9873500fc02e0d8fcfad5f7365196914b48a6507ee9f23680fd01ec62cd9ef0dad2539baaa77b92273e99d93700fef0265183166541514fa18af5b0092459f8388002f4a6b9962beb125112ae0ef70a753adb123922818ca811905d12bfdd76e16f0611b05ca29144f4580fbe0c4e3f207980024190725fa6c32a6686ef22878455ccc8c981e0404088ecc03540d1022af7c5a53b5d0d6c3f40016381b31f40812048b92f33b0d67e4046a96485b81f90514ac757ccc8c90ed5032373fc17b906980e3839101c084694cc21efc2d90ae5beb87c70fa018214b336eecb6c85b281a91f903c4031ae7df144406503537b40f240832fc9819889e0809139fe8b5c038c4c048488370919a56c0a41d6ca56289b5a99078c3c703f4096c6ed32fb0164ad2622e5ec0720e5aa8729e82a49df4436b0f44da491d1ccbafa45da6adcaa683ab292a0605505');

INSERT INTO conversation_g1.history_tail VALUES
	('grp-edge', 1, '\x010100000040d15cea5a0501d09dbcc79863c763fb18507e51a5b39763bf657b4d3100000722666972737422'),
	('grp-edge', 2, '\x010100010040d15cea5a0502f0bcbcc79863afa0fe919bd357c9b3251feff2eaa21600000822e7acace4ba8c22'),
	('grp-edge', 3, '\x010100020040d15cea5a0503c0ccbcc798639a1e9835fcfc51cfaff81eb7ba08c73e00000c22d985d8b1d8add8a8d8a722'),
	('p2p-1-2', 103, '\x0101000000c0025eea5a050296b0dbdfc568e7b9ac3d69b35f2b806af02dc4b2d58c00000d226d6573736167652031303222'),
	('p2p-1-2', 107, '\x010100000000055eea5a0501a8b0dbdfc568e7c39af21f7d5142ae23ab3f3a06952e00000d226d6573736167652031303622'),
	('p2p-1-2', 111, '\x0101000000c0075eea5a0501beb0dbdfc5682a5fec2853fe59828c86f034b2c9a00800000d226d6573736167652031313022'),
	('p2p-1-2', 115, '\x0101000000800b5eea5a0502dcb0dbdfc56827855d691cb95eceb553ecca3739612100000d226d6573736167652031313422'),
	('p2p-1-2', 119, '\x0101000000000f5eea5a0501f8b0dbdfc56884780b8e2d27575398f7dab131e02c4600000d226d6573736167652031313822'),
	('p2p-1-2', 104, '\x010100000040035eea5a05019ab0dbdfc568723f0f36b53d5cb0b7f6b87e9ea9e89e00000d226d6573736167652031303322'),
	('p2p-1-2', 108, '\x010100000040065eea5a0501b2b0dbdfc56875703cc4330055a89f1f3127644564c100000d226d6573736167652031303722'),
	('p2p-1-2', 112, '\x010100000080085eea5a0502c4b0dbdfc56824d7bc3e28d45b96bc9bcd7db4292bee00000d226d6573736167652031313122'),
	('p2p-1-2', 116, '\x0101000000000d5eea5a0501e8b0dbdfc568a68e53a262fa5857af34fc1cda52f28300000d226d6573736167652031313522'),
	('p2p-1-2', 120, '\x0101000000800f5eea5a0501fcb0dbdfc5685ec8c1c488645e42845bbd1b061070c800000d226d6573736167652031313922'),
	('grp-old', 2, '\x010100000040155eea5a0503aab1dbdfc568aa75969c957959f0bcb44cd226d2f15d00000a22616674657220437922'),
	('p2p-1-2', 101, '\x010100000000ff5dea5a0501f8afdbdfc568b3689c3b834e5dd6bc4c4e8ad126af9900000d226d6573736167652031303022'),
	('p2p-1-2', 105, '\x010100000000045eea5a0501a0b0dbdfc568b1304fd746db5fe185a5cae00e6e44c200000d226d6573736167652031303422'),
	('p2p-1-2', 109, '\x0101000000c0065eea5a0502b6b0dbdfc5687ef91f3a7d8457ddad8b1258ae5f07ed00000d226d6573736167652031303822'),
	('p2p-1-2', 113, '\x0101000000400a5eea5a0501d2b0dbdfc56844a8528e2ee358c19bb03718ce62748100000d226d6573736167652031313222'),
	('p2p-1-2', 117, '\x0101000000c00d5eea5a0501eeb0dbdfc568cae62ef2e1e550d688df832f2494d4a700000d226d6573736167652031313622'),
	('p2p-1-2', 102, '\x010100000040025eea5a050192b0dbdfc5689489445d23bf55b09d9f422fe665a1f200000d226d6573736167652031303122'),
	('p2p-1-2', 106, '\x010100000080045eea5a0502a4b0dbdfc568b61fb3b0c0b052d79a4d1b0883ec5e4600000d226d6573736167652031303522'),
	('p2p-1-2', 110, '\x010100000040075eea5a0501bab0dbdfc568046582b8f9465a51b47b95b0df1b340d00000d226d6573736167652031303922'),
	('p2p-1-2', 114, '\x0101000000000b5eea5a0501d8b0dbdfc5687d8dda863f6e5f259c3e607d7ad4929300000d226d6573736167652031313322'),
	('p2p-1-2', 118, '\x0101000000400e5eea5a0502f2b0dbdfc5682531834e945b5b02a788d17a080726d500000d226d6573736167652031313722'),
	('grp-old', 1, '\x010100000040125eea5a050192b1dbdfc5688cafe9d029895d6587399269fe0a4f2f00000b226265666f726520437922'),
	('grp-new', 1, '\x010a000000409765ea5a0500baa9dcdfc568e1acbe28ef7d5644b8a43d19292c4f0200003e7b226279223a312c22636f756e74223a322c226576656e74223a22666f756e646564222c226e616d65223a224e6577222c2275696473223a5b322c335d7d'),
	('grp-new', 2, '\x0101000000c09b65ea5a0501dea9dcdfc568e7b13f404f3b5b718034fe187e0a931f000103072268656c6c6f22'),
	('p2p-1-2', 121, '\x010100000080e465ea5a0501a4aedcdfc568731aaf41eb53536fa9866772f9aca6100000122261667465722074686520637572736f7222');

INSERT INTO conversation_g1.member_by_conv VALUES
	('grp-edge', 1, 'owner', 0, 1796067780423),
	('grp-edge', 2, 'member', 1, 1796067780423),
	('p2p-1-2', 1, 'member', 0, 1796067781137),
	('p2p-1-2', 2, 'member', 0, 1796067781137),
	('grp-old', 1, 'owner', 0, 1796067781697),
	('grp-old', 3, 'member', 1, 1796067781711),
	('grp-new', 1, 'owner', 0, 1796067789407),
	('grp-new', 3, 'member', 0, 1796067789407),
	('grp-new', 2, 'admin', 0, 1796067789407);

INSERT INTO conversation_g1.member_by_person VALUES
	(1, 'grp-edge', 0, 1796067780423),
	(2, 'grp-edge', 1, 1796067780423),
	(1, 'p2p-1-2', 0, 1796067781137),
	(2, 'p2p-1-2', 0, 1796067781137),
	(1, 'grp-old', 0, 1796067781697),
	(3, 'grp-old', 1, 1796067781711),
	(1, 'grp-new', 0, 1796067789407),
	(2, 'grp-new', 0, 1796067789407),
	(3, 'grp-new', 0, 1796067789407);

INSERT INTO conversation_g1.mention VALUES
	('grp-new', 3, 2, 1);

INSERT INTO conversation_g1.recall VALUES
	('p2p-1-2', 119, 1, 1796067781721),
	('grp-new', 2, 1, 1796067789736);

INSERT INTO conversation_g1.setting VALUES
	('grp-new', 2, true, false);

INSERT INTO conversation_g1.system_message VALUES
	('grp-new', 1);

INSERT INTO conversation_g1.watermark VALUES
	('p2p-1-2', 1, 10, NULL);

INSERT INTO log.body_202611 VALUES
	(1796067780423, 1, 4, '\xec09ecce7c4d538ac88a5df239483b23', '\x7b226e616d65223a2265646765222c226f776e6572223a312c22686973746f7279223a22616c6c222c22736f75726365223a7b22636f6e76223a2265646765222c226174223a313730343130333230303030302c226e7468223a307d7d'),
	(1796067780423, 2, 4, '\x2529119f09e1b0e203e81ea6d4b3c306', '\x7b22636f6e74656e74223a226669727374227d'),
	(1796067780423, 3, 4, '\xa66aa4d3bf8c4ce78e3aa275af63ae8b', '\x7b2275696473223a5b325d2c226a6f696e65645f736571223a312c226279223a322c22736f75726365223a7b22636f6e76223a2265646765222c226174223a313730343130333231383030302c226e7468223a307d7d'),
	(1796067780423, 4, 4, '\x5f8368f99df9dd6967708a11494b6d8f', '\x7b22636f6e74656e74223a22e7acace4ba8c227d'),
	(1796067780423, 5, 4, '\x63ea9836904a66b62e90f54b65d6cde2', '\x7b2275696473223a5b335d2c226a6f696e65645f736571223a322c226279223a332c22736f75726365223a7b22636f6e76223a2265646765222c226174223a313730343130333232303030302c226e7468223a307d7d'),
	(1796067780423, 6, 4, '\x996ecfec44d0eecdf0ff760e6dd63804', '\x7b22636f6e74656e74223a22d985d8b1d8add8a8d8a7227d'),
	(1796067780423, 7, 4, '\xcf0f5c48cfba0c3e575863d095042654', '\x7b22756964223a332c226279223a332c22736f75726365223a7b22636f6e76223a2265646765222c226174223a313730343130333232313030302c226e7468223a307d7d'),
	(1796067781137, 1, 10, '\x19a264fef2654f92e6076a89f3171d0e', '\x7b22636f6e74656e74223a226d6573736167652030227d'),
	(1796067781161, 2, 10, '\xa5f7eaf941ba6eed351434340d476741', '\x7b22636f6e74656e74223a226d6573736167652031227d'),
	(1796067781167, 3, 10, '\xf0ffa0530de4d7e66b01f04f2376f9b1', '\x7b22636f6e74656e74223a226d6573736167652032227d'),
	(1796067781179, 4, 10, '\xc3e6afd279b5414a7fab3fd93daf29c5', '\x7b22636f6e74656e74223a226d6573736167652033227d'),
	(1796067781185, 5, 10, '\x395c8f6ce8ff5783c7dd842bb5846a8c', '\x7b22636f6e74656e74223a226d6573736167652034227d'),
	(1796067781189, 6, 10, '\x6f61811454e30aaa65e8c89be2699db4', '\x7b22636f6e74656e74223a226d6573736167652035227d'),
	(1796067781192, 7, 10, '\xfb954a624d6fbd98ef12ac8597990363', '\x7b22636f6e74656e74223a226d6573736167652036227d'),
	(1796067781207, 8, 10, '\xbafd64c4b0a2f489d36bca5973bd41d0', '\x7b22636f6e74656e74223a226d6573736167652037227d'),
	(1796067781212, 9, 10, '\x69e624e3fb49249c4c1c5cf6be518ecf', '\x7b22636f6e74656e74223a226d6573736167652038227d'),
	(1796067781227, 10, 10, '\x44632986bf48dd08d1281c9d3ffefe86', '\x7b22636f6e74656e74223a226d6573736167652039227d'),
	(1796067781230, 11, 10, '\x06b5fcf470473584be6c2907f61ea7ec', '\x7b22636f6e74656e74223a226d657373616765203130227d'),
	(1796067781238, 12, 10, '\xa22d296db933cf38bc75588ebb51accd', '\x7b22636f6e74656e74223a226d657373616765203131227d'),
	(1796067781247, 13, 10, '\xfaae9e47edde3b3cff05ac709207a665', '\x7b22636f6e74656e74223a226d657373616765203132227d'),
	(1796067781254, 14, 10, '\x6c8c22f4f0c959de0f3f21552898c117', '\x7b22636f6e74656e74223a226d657373616765203133227d'),
	(1796067781258, 15, 10, '\xe71cf788daf4bd5c234088d88dad73fe', '\x7b22636f6e74656e74223a226d657373616765203134227d'),
	(1796067781262, 16, 10, '\xffd841c6a26b0b21e37a8a1a6b491378', '\x7b22636f6e74656e74223a226d657373616765203135227d'),
	(1796067781266, 17, 10, '\x2d7673630ffe2a5cde57e7ef4480df28', '\x7b22636f6e74656e74223a226d657373616765203136227d'),
	(1796067781271, 18, 10, '\xce31c8401e19968f219c3a0a6d80a42c', '\x7b22636f6e74656e74223a226d657373616765203137227d'),
	(1796067781279, 19, 10, '\x1c8b5c20afc97b6f4cb9d6817f063bff', '\x7b22636f6e74656e74223a226d657373616765203138227d'),
	(1796067781283, 20, 10, '\x489e264c48eae5633f3500962bb6bc96', '\x7b22636f6e74656e74223a226d657373616765203139227d'),
	(1796067781289, 21, 10, '\x30ed99730988469d6da13680f402ca53', '\x7b22636f6e74656e74223a226d657373616765203230227d'),
	(1796067781294, 22, 10, '\xdbd9e33d56b4f34619b6f4e0d33cb710', '\x7b22636f6e74656e74223a226d657373616765203231227d'),
	(1796067781298, 23, 10, '\x59703ae82827ae8c64174bbb1c9c1907', '\x7b22636f6e74656e74223a226d657373616765203232227d'),
	(1796067781301, 24, 10, '\x0aa21185a881a816a5a0e97dc6177da1', '\x7b22636f6e74656e74223a226d657373616765203233227d'),
	(1796067781306, 25, 10, '\xa523c219d77808b3db4384aa821efdc5', '\x7b22636f6e74656e74223a226d657373616765203234227d'),
	(1796067781310, 26, 10, '\xd7d46c138efedccddaab94874ca286ca', '\x7b22636f6e74656e74223a226d657373616765203235227d'),
	(1796067781313, 27, 10, '\xc6afc67ee19e9fd559c6b1edfb5ef990', '\x7b22636f6e74656e74223a226d657373616765203236227d'),
	(1796067781319, 28, 10, '\x65d7a979507f8f0b53f68e718e7d72e3', '\x7b22636f6e74656e74223a226d657373616765203237227d'),
	(1796067781329, 29, 10, '\x6e64469c23f86fe53ad84196958ea8bd', '\x7b22636f6e74656e74223a226d657373616765203238227d'),
	(1796067781331, 30, 10, '\xb964e7340bf3288951a6626d7b8df5d3', '\x7b22636f6e74656e74223a226d657373616765203239227d'),
	(1796067781334, 31, 10, '\x062df065aa350e4e15c6d3eff10d2116', '\x7b22636f6e74656e74223a226d657373616765203330227d'),
	(1796067781343, 32, 10, '\xa3173a60e077cfbc6f5406d4de39924a', '\x7b22636f6e74656e74223a226d657373616765203331227d'),
	(1796067781346, 33, 10, '\xc05d2aa3bf303c61a83567a5cef3a23f', '\x7b22636f6e74656e74223a226d657373616765203332227d'),
	(1796067781351, 34, 10, '\x10b4377098dae8243fec6f63d46eea67', '\x7b22636f6e74656e74223a226d657373616765203333227d'),
	(1796067781353, 35, 10, '\x8a91cb960be6e10bb6846a43af87f72c', '\x7b22636f6e74656e74223a226d657373616765203334227d'),
	(1796067781355, 36, 10, '\xb214ce5bdb0b45cdfd829d4fe7b45435', '\x7b22636f6e74656e74223a226d657373616765203335227d'),
	(1796067781361, 37, 10, '\x128e36d4cfefb4e307cd6347e7777be0', '\x7b22636f6e74656e74223a226d657373616765203336227d'),
	(1796067781368, 38, 10, '\x95109d53846a49e422f5a236eec739c5', '\x7b22636f6e74656e74223a226d657373616765203337227d'),
	(1796067781374, 39, 10, '\xa4a74f0d32001e015a85370fa69423cc', '\x7b22636f6e74656e74223a226d657373616765203338227d'),
	(1796067781378, 40, 10, '\xcb48cd365b8f123e9fc5ecfdddf5cfbf', '\x7b22636f6e74656e74223a226d657373616765203339227d'),
	(1796067781382, 41, 10, '\xf2077aa409d3940131b0ce0c95d2e7a3', '\x7b22636f6e74656e74223a226d657373616765203430227d'),
	(1796067781387, 42, 10, '\xfde80a22d7283b85097027f3c52cdf13', '\x7b22636f6e74656e74223a226d657373616765203431227d'),
	(1796067781390, 43, 10, '\x2dd905af848c4e572a70322deb1f35ff', '\x7b22636f6e74656e74223a226d657373616765203432227d'),
	(1796067781392, 44, 10, '\x85400fee10afe9237e685f6f9afaaeb5', '\x7b22636f6e74656e74223a226d657373616765203433227d'),
	(1796067781398, 45, 10, '\x3cb4f3a8b6968d99997565ba0c5929b2', '\x7b22636f6e74656e74223a226d657373616765203434227d'),
	(1796067781406, 46, 10, '\x0148a1bfa4c282d67744fef6350a1602', '\x7b22636f6e74656e74223a226d657373616765203435227d'),
	(1796067781409, 47, 10, '\xa409ae17c2960ca13246d90a0a4dbdf4', '\x7b22636f6e74656e74223a226d657373616765203436227d'),
	(1796067781412, 48, 10, '\x031ea1910a299fd58031015ba856fe3e', '\x7b22636f6e74656e74223a226d657373616765203437227d'),
	(1796067781415, 49, 10, '\x533c9683eaca18c8a40379dad8b60bf2', '\x7b22636f6e74656e74223a226d657373616765203438227d'),
	(1796067781417, 50, 10, '\x212324fffa0e37a602f2757f279f6c17', '\x7b22636f6e74656e74223a226d657373616765203439227d'),
	(1796067781430, 51, 10, '\xe2aeba24757913f710e6311516becc9f', '\x7b22636f6e74656e74223a226d657373616765203530227d'),
	(1796067781433, 52, 10, '\xa503edb1abf709412eba26c8b142b7e2', '\x7b22636f6e74656e74223a226d657373616765203531227d'),
	(1796067781438, 53, 10, '\xe4e12b4a4194960b393be44ef481e7a6', '\x7b22636f6e74656e74223a226d657373616765203532227d'),
	(1796067781441, 54, 10, '\x2445b3f49d06b5732206d8f81b227a39', '\x7b22636f6e74656e74223a226d657373616765203533227d'),
	(1796067781449, 55, 10, '\xc9d27fc6cf7a05e04e0d26c2ab53496d', '\x7b22636f6e74656e74223a226d657373616765203534227d'),
	(1796067781451, 56, 10, '\x2e44d3c45de1edfe8537fb9cc3485823', '\x7b22636f6e74656e74223a226d657373616765203535227d'),
	(1796067781454, 57, 10, '\xdc146f3311ccb3d48470421ce9b57e0f', '\x7b22636f6e74656e74223a226d657373616765203536227d'),
	(1796067781457, 58, 10, '\x0c6a2e5fe06c743a8aed91a4b7515eed', '\x7b22636f6e74656e74223a226d657373616765203537227d'),
	(1796067781459, 59, 10, '\x88649db3c82b0d1778e6654e06719042', '\x7b22636f6e74656e74223a226d657373616765203538227d'),
	(1796067781467, 60, 10, '\x0727255a5e643eef5cec978868433956', '\x7b22636f6e74656e74223a226d657373616765203539227d'),
	(1796067781470, 61, 10, '\x6425a407d9e228b74d1b0da9eb4ca5d1', '\x7b22636f6e74656e74223a226d657373616765203630227d'),
	(1796067781475, 62, 10, '\x47082838103c294e7b2d0e112b3d2e9d', '\x7b22636f6e74656e74223a226d657373616765203631227d'),
	(1796067781478, 63, 10, '\xd02ce054a178c5d6db50321a26d6116f', '\x7b22636f6e74656e74223a226d657373616765203632227d'),
	(1796067781485, 64, 10, '\x0df53c59df49202de469c09301ed7415', '\x7b22636f6e74656e74223a226d657373616765203633227d'),
	(1796067781488, 65, 10, '\x9cc025184fc41064f46513e155da86c9', '\x7b22636f6e74656e74223a226d657373616765203634227d'),
	(1796067781492, 66, 10, '\xa57662361a10491d0a0de0f4956e2319', '\x7b22636f6e74656e74223a226d657373616765203635227d'),
	(1796067781498, 67, 10, '\x11f535fea737c464d3daf770bc3e2d55', '\x7b22636f6e74656e74223a226d657373616765203636227d'),
	(1796067781501, 68, 10, '\x101dbb820b19c4e094168cefdd619dd5', '\x7b22636f6e74656e74223a226d657373616765203637227d'),
	(1796067781509, 69, 10, '\x67be8469f97886a34ed3cb1b330aea30', '\x7b22636f6e74656e74223a226d657373616765203638227d'),
	(1796067781514, 70, 10, '\x6beb3b79102987d427867165da7f6b2e', '\x7b22636f6e74656e74223a226d657373616765203639227d'),
	(1796067781516, 71, 10, '\x028cdd796df5a18531e267e42595546f', '\x7b22636f6e74656e74223a226d657373616765203730227d'),
	(1796067781521, 72, 10, '\x2f010f853c084d6c3452dc47e581d7ff', '\x7b22636f6e74656e74223a226d657373616765203731227d'),
	(1796067781524, 73, 10, '\xfb7895c05c247c2ea1afe25cb1ff7c94', '\x7b22636f6e74656e74223a226d657373616765203732227d'),
	(1796067781527, 74, 10, '\xf4e04d1ee08c01d7f95e2deda096207a', '\x7b22636f6e74656e74223a226d657373616765203733227d'),
	(1796067781529, 75, 10, '\x86645ce97bc941e673fd1cb62a422233', '\x7b22636f6e74656e74223a226d657373616765203734227d'),
	(1796067781534, 76, 10, '\xf82c912c981052ffc1a16e0d0036748b', '\x7b22636f6e74656e74223a226d657373616765203735227d'),
	(1796067781536, 77, 10, '\x206e776fe5c906d06fc1029ab1a27ab7', '\x7b22636f6e74656e74223a226d657373616765203736227d'),
	(1796067781538, 78, 10, '\x76051f4d0e8428d762593a6fd856de62', '\x7b22636f6e74656e74223a226d657373616765203737227d'),
	(1796067781554, 79, 10, '\xe3e2a9c0ec9cf0ff4044a51220abf950', '\x7b22636f6e74656e74223a226d657373616765203738227d'),
	(1796067781556, 80, 10, '\x235b7a686df9209bd85639b2d768b549', '\x7b22636f6e74656e74223a226d657373616765203739227d'),
	(1796067781559, 81, 10, '\xfec636ffce85b33e06e8b4895a41d084', '\x7b22636f6e74656e74223a226d657373616765203830227d'),
	(1796067781572, 84, 10, '\x7958b16164d930cdaac21f527f97fc58', '\x7b22636f6e74656e74223a226d657373616765203833227d'),
	(1796067781597, 89, 10, '\x1d7245044de4533532f592ca5e8c0b1a', '\x7b22636f6e74656e74223a226d657373616765203838227d'),
	(1796067781609, 94, 10, '\x153c4f37e53f05a6b4489015b995f222', '\x7b22636f6e74656e74223a226d657373616765203933227d'),
	(1796067781622, 98, 10, '\xbc57cfc7096d8364cc2d37f304cda4b0', '\x7b22636f6e74656e74223a226d657373616765203937227d'),
	(1796067781646, 104, 10, '\x060b65b276f2565a750931c92a4b45a9', '\x7b22636f6e74656e74223a226d65737361676520313033227d'),
	(1796067781662, 110, 10, '\x0745a76d693cb4d6bc0a169e0f808745', '\x7b22636f6e74656e74223a226d65737361676520313039227d'),
	(1796067781674, 113, 10, '\x44c1be6ccd976abdf269157edff01eaf', '\x7b22636f6e74656e74223a226d65737361676520313132227d'),
	(1796067781687, 117, 10, '\xe49df38b08e20435547bb0a917041e30', '\x7b22636f6e74656e74223a226d65737361676520313136227d'),
	(1796067781690, 118, 10, '\x3bb20feaa89012a4d4965e31ff81eef4', '\x7b22636f6e74656e74223a226d65737361676520313137227d'),
	(1796067781694, 120, 10, '\x74c6da8382ccec35b0f85927b03f8d4f', '\x7b22636f6e74656e74223a226d65737361676520313139227d'),
	(1796067781697, 8, 4, '\xfcbe546800e0c9caca7bb78a6014fa9a', '\x7b226e616d65223a224f6c64222c226f776e6572223a312c22686973746f7279223a226a6f696e6564227d'),
	(1796067781697, 9, 4, '\xa5fc2866fd05d59023f996ef1f3ce002', '\x7b2275696473223a5b325d2c226a6f696e65645f736571223a302c226279223a317d');
INSERT INTO log.body_202611 VALUES
	(1796067781722, 121, 10, '\x2810380f16ce4080d2adc574b051ffd2', '\x7b22736571223a3131392c226279223a312c226174223a313739363036373738313732317d'),
	(1796067781725, 122, 10, '\x1c2fb5de05736cb1490baff53e03c1c0', '\x7b22756964223a322c2273657173223a5b352c3131385d7d'),
	(1796067781561, 82, 10, '\x163eefbb2526409ffafbf95fee09c99b', '\x7b22636f6e74656e74223a226d657373616765203831227d'),
	(1796067781570, 83, 10, '\x3631ff382c36bceda7943fbb70213d22', '\x7b22636f6e74656e74223a226d657373616765203832227d'),
	(1796067781602, 91, 10, '\x958ead005c6c220f9d88c173911e5224', '\x7b22636f6e74656e74223a226d657373616765203930227d'),
	(1796067781607, 93, 10, '\x7f1fda15a5a0c7ed0399997620a02e76', '\x7b22636f6e74656e74223a226d657373616765203932227d'),
	(1796067781626, 100, 10, '\xd1b64800499cd2428c4676696f790cd4', '\x7b22636f6e74656e74223a226d657373616765203939227d'),
	(1796067781629, 101, 10, '\x4be1cb3be877e2ee86af325980281fd4', '\x7b22636f6e74656e74223a226d65737361676520313030227d'),
	(1796067781644, 103, 10, '\x0097d4b2d23fc764beebf3619c56374c', '\x7b22636f6e74656e74223a226d65737361676520313032227d'),
	(1796067781653, 107, 10, '\x035bc4367a6a406b78711b823b262c88', '\x7b22636f6e74656e74223a226d65737361676520313036227d'),
	(1796067781659, 109, 10, '\xb4895915bbf2ce2bba51d18bde3c74b2', '\x7b22636f6e74656e74223a226d65737361676520313038227d'),
	(1796067781719, 13, 4, '\xefdbbc9b5c101ac5be7f2c8f637a114e', '\x7b22756964223a322c226279223a317d'),
	(1796067781761, 124, 10, '\x7a25e76f0261ea4c7c02008bd5ac7a07', '\x7b22756964223a312c2275705f746f5f736571223a31307d'),
	(1796067781575, 85, 10, '\xc37a9fbca935ddedae48211f911f8cb2', '\x7b22636f6e74656e74223a226d657373616765203834227d'),
	(1796067781589, 87, 10, '\xc7ce4315519ffdab16e5593872596c48', '\x7b22636f6e74656e74223a226d657373616765203836227d'),
	(1796067781594, 88, 10, '\x5f2c132d20bc28c7354155961ad00e8a', '\x7b22636f6e74656e74223a226d657373616765203837227d'),
	(1796067781604, 92, 10, '\x3ba742697e594e6bea88be41c3887fe3', '\x7b22636f6e74656e74223a226d657373616765203931227d'),
	(1796067781614, 96, 10, '\x559f9e093dde3183ee534a1be000f5f8', '\x7b22636f6e74656e74223a226d657373616765203935227d'),
	(1796067781624, 99, 10, '\x9647bfcac3c214177309e18eadd88bbd', '\x7b22636f6e74656e74223a226d657373616765203938227d'),
	(1796067781641, 102, 10, '\x1c574a1280c14f768c8f02761b53ae2f', '\x7b22636f6e74656e74223a226d65737361676520313031227d'),
	(1796067781648, 105, 10, '\xd5f8b28f3ed35080b12b7762db7a6f97', '\x7b22636f6e74656e74223a226d65737361676520313034227d'),
	(1796067781657, 108, 10, '\x52e92c288a9d0fd6bedf07ae224e0e1d', '\x7b22636f6e74656e74223a226d65737361676520313037227d'),
	(1796067781664, 111, 10, '\x5843af8f1937b638f5f740ce7093ad9c', '\x7b22636f6e74656e74223a226d65737361676520313130227d'),
	(1796067781666, 112, 10, '\xb29f65f426f86bb0482fffb251281b43', '\x7b22636f6e74656e74223a226d65737361676520313131227d'),
	(1796067781685, 116, 10, '\x81bab898feebc5929471b21296b18b35', '\x7b22636f6e74656e74223a226d65737361676520313135227d'),
	(1796067781706, 10, 4, '\xb2e38c963863cdc41c844e3b307edcda', '\x7b22636f6e74656e74223a226265666f7265204379227d'),
	(1796067781717, 12, 4, '\x9fa92a909d78a6a8292e9275d4f7178d', '\x7b22636f6e74656e74223a226166746572204379227d'),
	(1796067781578, 86, 10, '\x1debde1730541a9a9949d2b99b944f57', '\x7b22636f6e74656e74223a226d657373616765203835227d'),
	(1796067781600, 90, 10, '\xa5db166818534bd83deaf56ca4389496', '\x7b22636f6e74656e74223a226d657373616765203839227d'),
	(1796067781612, 95, 10, '\x53c2c47596abbc98b70f70690e36ea45', '\x7b22636f6e74656e74223a226d657373616765203934227d'),
	(1796067781619, 97, 10, '\xfc5e4bdf38219a65b9b27c21ee63d542', '\x7b22636f6e74656e74223a226d657373616765203936227d'),
	(1796067781651, 106, 10, '\xbdc4fada9b36e1bce3099caf780963f4', '\x7b22636f6e74656e74223a226d65737361676520313035227d'),
	(1796067781676, 114, 10, '\xda7ca5b1b70dbc1ae83863b7dfbaf35c', '\x7b22636f6e74656e74223a226d65737361676520313133227d'),
	(1796067781678, 115, 10, '\x709576f83e28f409dc83158b8133c72e', '\x7b22636f6e74656e74223a226d65737361676520313134227d'),
	(1796067781692, 119, 10, '\xcef0f832ac231f3304f3c71ad7cd91bd', '\x7b22636f6e74656e74223a226d65737361676520313138227d'),
	(1796067781711, 11, 4, '\x5a8442dc8012bbed57d9e2132d987ca8', '\x7b2275696473223a5b335d2c226a6f696e65645f736571223a312c226279223a317d'),
	(1796067781734, 123, 10, '\xcf2dc1c616f77c0b68b635532e011007', '\x7b22756964223a322c22726561645f736571223a3130302c226174223a313739363036373738313733347d'),
	(1796067789407, 1, 6, '\xd9a8396fbbc0bb0f364fb64b30cab750', '\x7b226e616d65223a224e6577222c226f776e6572223a312c22686973746f7279223a226a6f696e6564222c22616e6e6f756e636564223a747275657d'),
	(1796067789407, 2, 6, '\x510da7f9bc4a5ae738ab268c6d2e1640', '\x7b2275696473223a5b322c335d2c226a6f696e65645f736571223a302c226279223a312c22616e6e6f756e636564223a747275657d'),
	(1796067789407, 3, 6, '\xa74bdc77eebdc3028fed9f22eb064b53', '\x7b22636f6e74656e74223a7b226279223a312c22636f756e74223a322c226576656e74223a22666f756e646564222c226e616d65223a224e6577222c2275696473223a5b322c335d7d7d'),
	(1796067789424, 4, 6, '\x518c34c9554fc5616af205ebd79f1b35', '\x7b22636f6e74656e74223a2268656c6c6f222c226d656e74696f6e73223a5b335d7d'),
	(1796067789436, 5, 6, '\x46bee19b4e9a5754d78bdca2381d75c7', '\x7b22756964223a322c22726f6c65223a2261646d696e222c226279223a317d'),
	(1796067789467, 6, 6, '\xd260934da5a6cac611c031b8ce654c7a', '\x7b22756964223a322c2270696e6e6564223a747275652c226d75746564223a66616c73657d'),
	(1796067789724, 125, 10, '\x49fb05b12d8cc51f866524d7ed5dc223', '\x7b22636f6e74656e74223a2261667465722074686520637572736f72227d'),
	(1796067789737, 7, 6, '\xa3f4dba2425d9b4ec10ded40cbbe35e4', '\x7b22736571223a322c226279223a312c226174223a313739363036373738393733367d');

INSERT INTO log.conversation OVERRIDING SYSTEM VALUE VALUES
	(1, 'grp-edge', 4),
	(2, 'p2p-1-2', 10),
	(3, 'grp-old', 4),
	(4, 'grp-new', 6);

INSERT INTO log.event VALUES
	(10, 1, 1, 1796067780423, 1, NULL, NULL, 'ba749c25-5d59-54a6-85df-1a15cdb6dbe0', '01a22dfb-6745-7a96-b953-52b44854db98', NULL, 4, 20, 1, 1, NULL, NULL, NULL, '\xa5eb173db3bcee60957cf63a0925b64073471c30f9c3b6c75ef44f8516963102'),
	(8, 1, 2, 1796067780423, 1, 385878402462121984, 1704103217000, 'c763fb18-507e-51a5-b397-63bf657b4d31', '01a22dfb-6745-7a96-b953-52b44854db98', 'c763fb18-507e-51a5-b397-63bf657b4d31', 4, 1, 1, 1, 1, 0, NULL, '\xa452b78789901fa2c9f98d8c4e4f261885903ad5235044e72c77974162da6c81'),
	(10, 2, 3, 1796067780423, 2, NULL, NULL, 'f8e244a6-1eb0-5dfb-bff4-58689b3b5232', '01a22dfb-6745-7a96-b953-52b44854db98', NULL, 4, 21, 1, 1, NULL, NULL, NULL, '\x4c3cb04755c1eadced3f1a3685cffbed8be8a20cf1095692bccc8ec5f04d872e'),
	(8, 2, 4, 1796067780423, 2, 385878402462121985, 1704103219000, 'afa0fe91-9bd3-57c9-b325-1feff2eaa216', '01a22dfb-6745-7a96-b953-52b44854db98', 'afa0fe91-9bd3-57c9-b325-1feff2eaa216', 4, 1, 1, 1, 1, 0, NULL, '\xf89301efe8825c8562cc0201e11777d204d4ae0f407670f4f70d1b805965205f'),
	(10, 3, 5, 1796067780423, 3, NULL, NULL, 'dd9f0247-8fed-5d10-84a2-8b0d0d0b5bb0', '01a22dfb-6745-7a96-b953-52b44854db98', NULL, 4, 21, 1, 1, NULL, NULL, NULL, '\xc3da3e3c6ed0cac42e7ed3518e3698999160425313b15b55ab2c2f15e08f4b3d'),
	(8, 3, 6, 1796067780423, 3, 385878402462121986, 1704103220000, '9a1e9835-fcfc-51cf-aff8-1eb7ba08c73e', '01a22dfb-6745-7a96-b953-52b44854db98', '9a1e9835-fcfc-51cf-aff8-1eb7ba08c73e', 4, 1, 1, 1, 1, 0, NULL, '\x6131bd893fddfad47176e0b5fc9ddf0dc05b7cd2e7fd3b7e164471d9fa5f4367'),
	(10, 4, 7, 1796067780423, 3, NULL, NULL, '89e723ff-1420-5fbd-8fed-a704b4030fea', '01a22dfb-6745-7a96-b953-52b44854db98', NULL, 4, 22, 1, 1, NULL, NULL, NULL, '\xaab09ddbdccc23d024b5f4b684bed4e7cbe41e73a1682e2b5afabbe5250fea7c'),
	(16, 1, 1, 1796067781137, 2, 385878405448466432, 1796067781133, '337cf723-9c27-5827-a4ca-dd1c67458b57', '01a22dfb-6a0d-7adf-8a6c-b27eaf36fec9', '6e77618e-6069-5591-8f1e-79d8c9ee7a7e', 10, 1, 1, 0, 1, 0, NULL, '\xc3ddb50018608d613206056d4fddd74a109edf491592de6809d180ea7e4b9840'),
	(16, 2, 2, 1796067781161, 1, 385878405519769600, 1796067781150, 'c382f3d3-1cfe-56d6-89b5-0896de4f3777', '01a22dfb-6a1e-79cb-bed3-306cb3a3e214', '82048a94-9a52-5ab6-93d4-31c6634a0694', 10, 1, 1, 0, 1, 0, NULL, '\xb1cc9309b5a0e958b5ef3fb1bf9a40129e06699852a60d0387d30a6c5b8a78b2'),
	(16, 3, 3, 1796067781167, 1, 385878405586878464, 1796067781166, 'a66277d7-884c-5a2e-a2a7-bedd488ea46a', '01a22dfb-6a2d-7227-b48c-498336ee60cf', 'c89d034b-f781-5366-be15-1ab84da9ec38', 10, 1, 1, 0, 1, 0, NULL, '\x994f5aa0c949391f552167152cd2dafdb8014b91bf4700e7fcecf921000a3763'),
	(16, 4, 4, 1796067781179, 2, 385878405637210112, 1796067781178, '2649121e-fd3e-5946-9d33-9a419d4abfb7', '01a22dfb-6a3a-72a8-b5d6-0a050213b7f2', '77e432d8-0e51-5cb4-92d3-a77ddd73228b', 10, 1, 1, 0, 1, 0, NULL, '\xfb43986b55b66e36b16f58729c3ad65395ee84ac85481f011841659326dae9e3'),
	(16, 5, 5, 1796067781185, 1, 385878405658181632, 1796067781183, 'e6d43375-e52c-539f-a691-306217d9e65b', '01a22dfb-6a3f-7731-bea7-c8d25164105e', '6ea7a573-777f-5cb9-8d4c-2941bdafab21', 10, 1, 1, 0, 1, 0, NULL, '\x195de769ef864080bf9fce785b2a37bc071b54420f4995524ee68f621101ea0b'),
	(16, 6, 6, 1796067781189, 1, 385878405679153152, 1796067781188, 'c9b82a98-b5fb-5de6-9962-f6c8b5e231ba', '01a22dfb-6a43-7199-8021-104af6e21d2a', '30b95f01-5200-5d1e-b489-cf7691ae4e30', 10, 1, 1, 0, 1, 0, NULL, '\x6f6f129c9718bfda9e022f0574a8036a3466435cb4b9e024a4ce4247fa836bf9'),
	(16, 7, 7, 1796067781192, 2, 385878405691736064, 1796067781191, '8a5f2ca7-2a8b-521c-b8af-b1a25e76160a', '01a22dfb-6a47-7e9e-a851-2df9cb224536', 'f382eb69-4678-53e7-ac91-6717c4a3a25b', 10, 1, 1, 0, 1, 0, NULL, '\x874078868e15bf3176cc146ee6f6a3eae071d1fd6e27f4ef04f16a15fb6c5394'),
	(16, 8, 8, 1796067781207, 1, 385878405754650624, 1796067781206, '5af57c06-ece1-5319-bb44-4522bddfb60d', '01a22dfb-6a56-7e76-9eb5-d430bee5260a', '7928081f-f9c8-5f8b-a289-5aae8f696c62', 10, 1, 1, 0, 1, 0, NULL, '\x40fbf09b93ce28bf344aa68c46e00c0d53671a3d8c38a4098ffd406468a6b112'),
	(16, 9, 9, 1796067781212, 1, 385878405775622144, 1796067781211, '2dc4b939-712c-501a-a479-026b0e63cc91', '01a22dfb-6a5b-7ff9-ab7d-8424dd1c0553', '9dd8d8b3-ed70-5c11-8f29-226450f703cb', 10, 1, 1, 0, 1, 0, NULL, '\x3b1508959f0c59c0e4e3e900b49a49f2735a7230bea908b083b1b6f3eba092f0'),
	(16, 10, 10, 1796067781227, 2, 385878405838536704, 1796067781226, '9aff7939-7cbd-5ed8-b86f-7989a299f948', '01a22dfb-6a6a-719b-b5f8-6fda91ad022c', '4bcb558c-5ff9-52c3-9bd1-e73c1ae39464', 10, 1, 1, 0, 1, 0, NULL, '\xc1a9969dafc64c45f478114a02cd9fe70133884b348ba64a9d14562c22f6db32'),
	(16, 11, 11, 1796067781230, 1, 385878405851119616, 1796067781229, 'a471e861-af6c-5b79-aaea-8ed54862a329', '01a22dfb-6a6d-79e5-a5fe-e4069f1c032e', '5eb75915-2d43-552f-b0c3-3a2dad6a59c1', 10, 1, 1, 0, 1, 0, NULL, '\xcfa3cb005554b777bd9586a75d6cf80e85eecad4b94e4825525fbbfa7eccefc1'),
	(16, 12, 12, 1796067781238, 1, 385878405884674048, 1796067781237, '790a7c6f-d377-5b0a-ab04-9a3c54e2d562', '01a22dfb-6a75-72c8-8af9-9a256b3f2a5d', 'ab500864-f992-5099-bbe5-39b079e226f3', 10, 1, 1, 0, 1, 0, NULL, '\x223b9903ca66f8428e26331b28d0312dbcfa9c875d0c2def546c6c05d147fd3a'),
	(16, 13, 13, 1796067781247, 2, 385878405922422784, 1796067781246, 'ea4508bd-7b0f-50e4-bc54-c6d47430d9d6', '01a22dfb-6a7e-7f36-bf1a-6b14707ea6f1', '6f2963b3-33a7-5254-9c79-b6f86fa14fd9', 10, 1, 1, 0, 1, 0, NULL, '\x2e9565c0b5b2d5c3b42fb59977d397457ffd6e9343f94fee766492ef1ee98d37'),
	(16, 14, 14, 1796067781254, 1, 385878405955977216, 1796067781254, '94ddb125-9aba-5ffe-a6a9-75d658c85e15', '01a22dfb-6a85-757c-b9a7-2464069b2dc3', '2ea5444d-e805-58ce-aba2-bd01f969f3a3', 10, 1, 1, 0, 1, 0, NULL, '\xadcd2e5d59c8470f3f8b4a7387fd9b78e23cb960b6adfa14d531c359965a9c24'),
	(16, 15, 15, 1796067781258, 1, 385878405972754432, 1796067781258, 'cb17a593-5b8a-5a1b-941e-b9437c878be9', '01a22dfb-6a89-7d62-be0e-2bcc5089db30', 'f9835068-f6a3-5641-ad43-801c167bf5cb', 10, 1, 1, 0, 1, 0, NULL, '\x9e15f64637da56ae5c26601cfd3e6e8358c87caa13db2f3b7f181b6489c4ab75'),
	(16, 16, 16, 1796067781262, 2, 385878405985337344, 1796067781261, '1379b8ff-32b0-5705-8b77-e43656f41456', '01a22dfb-6a8d-7091-ad60-0b19954f96a8', 'b914b8f8-cc7b-52b5-b8ea-b4e01ba3e101', 10, 1, 1, 0, 1, 0, NULL, '\xd996990de70b866eac851efbfdf4d5f95604ef755a1eeac082d1efe71a1b9564'),
	(16, 17, 17, 1796067781266, 1, 385878406006308864, 1796067781266, '58d5245e-282b-5d28-ad08-c96e141abe43', '01a22dfb-6a92-7056-a8d4-8f5c14999776', 'aa9c73df-c3a7-5bf4-bea4-fc31bd0ae2e4', 10, 1, 1, 0, 1, 0, NULL, '\x1e6d447b4875b961193eb43d53ea2a20951c9d564b54e9521e4e337362dd0b43'),
	(16, 18, 18, 1796067781271, 1, 385878406023086080, 1796067781270, '33cad7d1-abea-5be6-baed-fb9fb569b14e', '01a22dfb-6a96-7dfe-9b40-ee8a307cbffc', '5e9cc259-46aa-5700-85e7-9aecfe71231c', 10, 1, 1, 0, 1, 0, NULL, '\x239a1e36d6e3a9d3c6022ca930c285adc444ae2b34cf53c7c1db42e7b0258abb'),
	(16, 19, 19, 1796067781279, 2, 385878406060834816, 1796067781279, '7956eace-b6b6-5294-a265-a76bdec274cb', '01a22dfb-6a9f-7f87-a381-8c164a65cd3b', 'edfa72a7-b366-5705-9a04-ac4b00a06462', 10, 1, 1, 0, 1, 0, NULL, '\x64902b8f52f6d7a85896269ad84fb89209553b9bbb43e078dae8c7c82d89112c'),
	(16, 20, 20, 1796067781283, 1, 385878406073417728, 1796067781282, 'e1e47f58-8d79-50e0-9969-5285dbd16751', '01a22dfb-6aa2-7e97-9708-566c3ca51057', '61121017-3ac7-505f-9aaf-061094d10de0', 10, 1, 1, 0, 1, 0, NULL, '\x307bdd8bcce5b3fdfb4f292854ad5773e06a5f8e3176c5aeebc3f6922fba42b3'),
	(16, 21, 21, 1796067781289, 1, 385878406102777856, 1796067781289, '0e88a987-a9a1-5402-a881-e3c37d7b329e', '01a22dfb-6aa9-7854-875e-9923df8388b3', '7aa9a4d8-ab04-5c33-9120-ce77b8a6f303', 10, 1, 1, 0, 1, 0, NULL, '\xbae563141643ce3dea0d51123c3e4d416e8449ea2dbfba637af15fcbd1bc7027'),
	(16, 22, 22, 1796067781294, 2, 385878406119555072, 1796067781293, 'f30be57a-d2ec-565d-91f1-63729406b0b0', '01a22dfb-6aad-7f79-a043-05c6924c3a3c', 'faefd8f0-b903-5285-bf50-87c75afbcf15', 10, 1, 1, 0, 1, 0, NULL, '\xc9e0879c30a8c942cc95681966e964e3eb9d256c9486f52f43133cdf56c20b5c'),
	(16, 23, 23, 1796067781298, 1, 385878406136332288, 1796067781297, 'b9b5626e-8ebb-5db6-93ff-fe6e9e756da5', '01a22dfb-6ab1-7835-ae53-79833e658981', '8d0901d5-ed1f-5dbf-b6be-fdc8ce8cb7c9', 10, 1, 1, 0, 1, 0, NULL, '\x419729cc770837821243fa851b5db7a08f0df1a2f828574891ccceed730b2e2c'),
	(16, 24, 24, 1796067781301, 1, 385878406153109504, 1796067781301, '7fcb6ab7-3e45-58a6-856d-d193560ccd1f', '01a22dfb-6ab4-7160-ab00-e6d22bfb6fde', 'dac01b9d-6ef5-5835-92a1-937a5f3ac0b1', 10, 1, 1, 0, 1, 0, NULL, '\xa31d0da08821dec94733ed7667230e550d1f7f20b10ebb0e55246b501434be9f'),
	(16, 25, 25, 1796067781306, 2, 385878406169886720, 1796067781305, 'a7d4f016-db7d-5143-8145-10421882643c', '01a22dfb-6ab9-73eb-b2ba-0b0942f0eb6b', '00ef1bfd-3828-5ac6-8b9d-37c71e0fce6c', 10, 1, 1, 0, 1, 0, NULL, '\x7d7accb21346197d438a44b329743456065d0ad0f046a49bd7009798de817b59'),
	(16, 26, 26, 1796067781310, 1, 385878406186663936, 1796067781309, 'dfdc8e26-527d-50c2-b2ff-224a9d60744e', '01a22dfb-6abd-7269-81c7-99e53eec87de', '6c0acfc8-1e04-54ec-aaf4-ae42f761fcd6', 10, 1, 1, 0, 1, 0, NULL, '\x2744e0ac16d96ed0473469b1c0cedef74148373e383b17765c809d61482f1d79'),
	(16, 27, 27, 1796067781313, 1, 385878406199246848, 1796067781312, 'a8dc8f32-810c-5146-8cbf-ec3ae8d87c74', '01a22dfb-6ac0-790f-9097-c7dbf6972e78', '5af5ab5f-54e6-55d7-845e-40e8791dde5a', 10, 1, 1, 0, 1, 0, NULL, '\x6496da7c8116bb33a13bd7ccd7ad693cf5e5a1398b548b286f5c82404db221d6'),
	(16, 28, 28, 1796067781319, 2, 385878406228606976, 1796067781319, 'a5add014-6422-5cfc-862f-d9151d1743d4', '01a22dfb-6ac7-7890-ac52-91de36c81057', 'd3827f86-78ae-5ad1-8e33-b66cfd49b0e8', 10, 1, 1, 0, 1, 0, NULL, '\x17253fd49ce3bde42cc579688b5eebe67177462b419aa23a6de6323971610b6b'),
	(16, 29, 29, 1796067781329, 1, 385878406253772800, 1796067781325, '176ae49b-9a6f-5b58-845b-9beecfa8e0d9', '01a22dfb-6acd-71e6-98bb-e239b08f6ceb', '79f296a0-0a91-58be-8142-4b47bf647f11', 10, 1, 1, 0, 1, 0, NULL, '\xe7a08a2e522a4240a329930ca097aad01fd01e93afabe8873503958d342044b1'),
	(16, 30, 30, 1796067781331, 1, 385878406278938624, 1796067781331, 'ade8bc33-78bf-55ef-9e4d-92432dda9631', '01a22dfb-6ad3-7512-bbaa-cc857b712dd4', '55a07a2e-8763-5b19-a1a0-e5265eb129e2', 10, 1, 1, 0, 1, 0, NULL, '\x4300d289ba70217fbf4ff42dfc4bd7086fa0c221962bcff452835810b9fa8711'),
	(16, 31, 31, 1796067781334, 2, 385878406291521536, 1796067781334, 'e119db5f-b57f-5705-a237-27fd3e2e4ba7', '01a22dfb-6ad5-70c4-9dd1-789b946d1728', '6964a8ff-acf3-5211-b346-86c39e6d5fa4', 10, 1, 1, 0, 1, 0, NULL, '\x35c65cea2a7737f3e33b85c01a3373c155b8b77895f50a7305911aeba4e6f394'),
	(16, 32, 32, 1796067781343, 1, 385878406329270272, 1796067781343, 'c196ed74-b600-58de-99c5-68e0921aceba', '01a22dfb-6adf-7bf2-84ef-fc3644a488f5', '65a1cd3a-7e6f-5df5-bad6-4efcb5641837', 10, 1, 1, 0, 1, 0, NULL, '\x8ad5f936fd7cb62c22b1d6eefe848cff78d563e6d5cd942a54f1f99881299382'),
	(16, 33, 33, 1796067781346, 1, 385878406337658880, 1796067781345, '7eedf2b9-a673-519f-9193-ef0af1d91577', '01a22dfb-6ae1-79f4-b44c-d3871a42f212', 'b39bf143-5dab-5bb0-98a6-876db2913c2a', 10, 1, 1, 0, 1, 0, NULL, '\xe8eba13633bd4e7aa544e89f36bd77feb534c1d6541b6b557ce5e6bf37d789ac'),
	(16, 34, 34, 1796067781351, 2, 385878406358630400, 1796067781350, 'fb8f3cb5-d7a3-5c49-b589-4a9094ff9172', '01a22dfb-6ae6-7447-b54d-09b6c1db2fd2', '028402e4-2a42-5d57-aedb-fb2d6c8e8494', 10, 1, 1, 0, 1, 0, NULL, '\x958fc4ef6f99338528d604602a192d7a15dd8f0db9e1d6f45989b6cf3e4c3574'),
	(16, 35, 35, 1796067781353, 1, 385878406371213312, 1796067781353, 'cd3ee7de-6177-5b8c-83d5-eb9b3b9f6875', '01a22dfb-6ae9-738b-9d6d-ec2ef3547c74', '7c0e16bb-fed9-561a-9ce0-4c911b752832', 10, 1, 1, 0, 1, 0, NULL, '\x41bdeac698428fee1df72c266c1b7a0eea4d0ad63d54c180c5aae066b9f05f8f'),
	(16, 36, 36, 1796067781355, 1, 385878406379601920, 1796067781355, '24b07062-8a97-59a1-abbd-011a52518d87', '01a22dfb-6aeb-755d-b43c-31903e45a8bc', '3fd6d9da-f235-5350-aa30-b77879ff4dae', 10, 1, 1, 0, 1, 0, NULL, '\x592d410e8047021610315f15149e1e04aaaff3fc7703080e7844b7db6146c6d2'),
	(16, 37, 37, 1796067781361, 2, 385878406404767744, 1796067781361, '916cd777-518f-51a0-92f3-f1c5b5a3e719', '01a22dfb-6af1-7923-a6b3-2f3b699060ed', '0e458147-f4ba-5a63-9148-e6be8c5ec89e', 10, 1, 1, 0, 1, 0, NULL, '\xb70d5ff36a2053bd6c5e3ac1520f0e82e7581a17083e6bf48331be7f94832928'),
	(16, 38, 38, 1796067781368, 1, 385878406417350656, 1796067781364, 'a2bd113c-04e3-5f5c-bab6-15a1a22aa47f', '01a22dfb-6af3-7264-91c3-d3e1bbdf5a70', '258d3213-4125-529d-80bb-008c49d07f5f', 10, 1, 1, 0, 1, 0, NULL, '\x6a40672d19f4e7b02508aa5c4d1f02b89fe38e36204598bf83c618bdf0cc227d'),
	(16, 41, 41, 1796067781382, 1, 385878406492848128, 1796067781382, '42f13112-a123-573b-a424-889fa1d7f1bc', '01a22dfb-6b06-7405-88bf-fc8e8f328da8', '9dbd0b14-f6e7-554b-8225-f176840fbbad', 10, 1, 1, 0, 1, 0, NULL, '\x2a53a5b6d6b485f2f176420167c1d700627412d37dd536b5a172379f049a9d8e'),
	(16, 42, 42, 1796067781387, 1, 385878406513819648, 1796067781387, '41c12344-803b-5a74-a147-d0e3c9f229ae', '01a22dfb-6b0b-7da7-a0b0-d574d4b56988', '5c54fe81-6a85-5bbc-bd00-65c3865dcabd', 10, 1, 1, 0, 1, 0, NULL, '\x0f17e6bb0814f5aa56de0e552deb7bd4b6b8e7371b5b22a52ac659cacc65a56f'),
	(16, 43, 43, 1796067781390, 2, 385878406522208256, 1796067781389, '74f09f15-b7c5-5492-a913-57ca53a88aea', '01a22dfb-6b0d-765e-ac6e-e97b8fd14549', 'ce14cb0a-1437-52c9-afa0-fd0043472510', 10, 1, 1, 0, 1, 0, NULL, '\x6eabca683cc8bf667a9c553fd25df0dca9c532f8e058c3b6333f002a2eeff64d'),
	(16, 46, 46, 1796067781406, 2, 385878406589317120, 1796067781405, 'e4f4082c-678b-50dd-81c7-f2a3654af814', '01a22dfb-6b1d-7c4b-97c4-805e9e2f645a', '06682b20-ca5d-5296-b24f-6f716608d8e7', 10, 1, 1, 0, 1, 0, NULL, '\x80b908c2a5ba1d713b9499f853bea4c073d1ae52c3ad78cc8122eb3f1c6d6cf5'),
	(16, 49, 49, 1796067781415, 2, 385878406631260160, 1796067781415, '0108c499-d744-5faf-ac93-ec6355b72327', '01a22dfb-6b26-797a-a688-70e0109ab9d2', '453eafac-e807-5579-8ef9-224a48c0483c', 10, 1, 1, 0, 1, 0, NULL, '\x14a42e3448705e6d989e8cddf0195497340e5fb2f96187dcb098621aa855b492'),
	(16, 54, 54, 1796067781441, 1, 385878406740312064, 1796067781441, 'cb7c0151-a74c-5c60-b551-273187e45bd3', '01a22dfb-6b41-7b91-9f70-82416c484801', '439fec78-e751-514a-9325-19c8b99842b1', 10, 1, 1, 0, 1, 0, NULL, '\x2207f161c2603a215e04c4eac4164a46c008633fbf105b1879dd76ac58a69b3e'),
	(16, 55, 55, 1796067781449, 2, 385878406773866496, 1796067781449, 'aadc80be-3826-572b-aae4-c9a8d5bf9939', '01a22dfb-6b49-7599-93c4-792b76e30ff9', 'da229a56-2822-5d26-902c-243afaad9f6a', 10, 1, 1, 0, 1, 0, NULL, '\xd6a0dcb5b43cbf0551313f557b745725538af0558363262fbbc04c38aa210d2e'),
	(16, 58, 58, 1796067781457, 2, 385878406803226624, 1796067781456, '3644defd-5daa-5849-a35d-11a436458241', '01a22dfb-6b50-727e-8f35-9da0b3f0c579', 'cba24381-2362-5860-84d4-dfb0a423c3ed', 10, 1, 1, 0, 1, 0, NULL, '\x16f7bdb17a59fcbe893d318107c292b68cf65585ec391c037cd98918495f51e7'),
	(16, 60, 60, 1796067781467, 1, 385878406849363968, 1796067781467, '279ef533-f534-588a-9682-6f920f0aee3a', '01a22dfb-6b5b-7f8d-99a7-a3099b924ad9', '902160d8-e41f-56c3-87ed-227ad0dfab18', 10, 1, 1, 0, 1, 0, NULL, '\x90e917f2144e3fb0c0fea634a9732d9db023388a6c1bf03b050b2daf9551ffcb'),
	(16, 72, 72, 1796067781521, 1, 385878407075856384, 1796067781521, '8a97ad8c-a51c-5dfc-a7d2-d6967a311141', '01a22dfb-6b91-7320-b146-1ba5db99e803', 'b6d5b1ea-0be9-5668-90b9-b9e0f909ffca', 10, 1, 1, 0, 1, 0, NULL, '\x2299d085c569e062fec2443c127ed58391c490fb3454d35d0a13bf3bd4ef4e32'),
	(16, 86, 86, 1796067781578, 1, 385878407310737408, 1796067781577, 'c00da18d-945b-513d-bc85-0de839948413', '01a22dfb-6bc9-7540-a487-ca64dd510ac9', 'a4b7d052-00cd-52be-a795-d53023f943ed', 10, 1, 1, 0, 1, 0, NULL, '\xc6221afc8fc0bf398d01e71f78e5d7565e33d080faef99456d65c6a244312ddf'),
	(16, 90, 90, 1796067781600, 1, 385878407403012096, 1796067781599, '872813cf-2aae-5e08-be11-23c179440e16', '01a22dfb-6bdf-7167-942b-5c925c79716a', '23837ba2-4b6f-5b49-977b-2e7214f847ed', 10, 1, 1, 0, 1, 0, NULL, '\x3bbf95a80b9e28b774af36a30a3de7ff89d954cbeb629bd5af1a9a7f30f5f7b5'),
	(16, 95, 95, 1796067781612, 1, 385878407453343744, 1796067781611, '50790c12-de38-57aa-8a19-93d1ed68c389', '01a22dfb-6beb-721e-bd20-abfc644fae13', '1e3edb84-a43c-5297-8044-8e4a66baa37d', 10, 1, 1, 0, 1, 0, NULL, '\xc6fe037798b8cde0d169aa543f829a414a74d871d78625ce86afb8aab86b05e6'),
	(16, 97, 97, 1796067781619, 2, 385878407474315264, 1796067781616, 'f4a1177c-c002-5aae-83f4-10ba20e98867', '01a22dfb-6bf0-74a9-92df-86caf9b0840f', 'd8fcfad5-f736-5196-914b-48a6507ee9f2', 10, 1, 1, 0, 1, 0, NULL, '\xe96433bc54fff4ea8e8179aed127b455e57cd99dce45748d3ad0b4e1809f706b'),
	(16, 106, 106, 1796067781651, 2, 385878407616921600, 1796067781650, '4d920737-3b43-541e-b3e9-a81d1dcbf45c', '01a22dfb-6c12-7a33-83fb-aa3c502f601b', 'b61fb3b0-c0b0-52d7-9a4d-1b0883ec5e46', 10, 1, 1, 0, 1, 0, NULL, '\x915684f0b4d3a2c03b41e07c87710ea84659a2ff63cebf5204c21940fad822f2'),
	(16, 114, 114, 1796067781676, 1, 385878407725973504, 1796067781676, 'f16d0bef-5c67-5c6e-95d5-07fbb27766fb', '01a22dfb-6c2c-7900-8e4f-3bb5c9642bcc', '7d8dda86-3f6e-5f25-9c3e-607d7ad49293', 10, 1, 1, 0, 1, 0, NULL, '\xe8101f8b2e9f878596443496b6e6608ee65d3481b7e84c690756c876729aa8c8'),
	(16, 115, 115, 1796067781678, 2, 385878407734362112, 1796067781678, 'c36266a9-d2bf-5c77-be46-643a37f6ba75', '01a22dfb-6c2e-773d-a4f6-bb809df7db87', '27855d69-1cb9-5ece-b553-ecca37396121', 10, 1, 1, 0, 1, 0, NULL, '\xe5b021cf6cffb0683af136ac6f97ba619b29a585257fcf947dc90ff028c94506'),
	(16, 119, 119, 1796067781692, 1, 385878407793082368, 1796067781692, 'ac0edea6-9e4e-57f9-bc1d-9198fc46f79e', '01a22dfb-6c3c-71a1-8e2b-3a836e2704d1', '84780b8e-2d27-5753-98f7-dab131e02c46', 10, 1, 1, 0, 1, 0, NULL, '\xe6dd54a4b3f2946da66ca4a1693cc75ba222f860a8151de3d71361eae98865f4'),
	(26, 3, 11, 1796067781711, 1, NULL, NULL, '35d3eef5-8db3-5975-a1b1-96a01a3c7388', '01a22dfb-6c4e-77e2-a72c-a33352034c94', NULL, 4, 21, 1, 0, NULL, NULL, NULL, '\xf5281b287451127014e476a4ba74c44ac2c6f1f78f917d23f79ee3c7da6688b6'),
	(17, 3, 123, 1796067781734, 2, NULL, NULL, 'a7b8ee25-6280-5741-a8c9-459a40d7dbee', '01a22dfb-6c66-7fa0-8a8d-8b57cc7f2843', NULL, 10, 5, 1, 0, NULL, NULL, NULL, '\xde18f61e924dc612fc87c3c82da3030d22d7347a612e99650ae6cb3c7a8ae923'),
	(16, 39, 39, 1796067781374, 1, 385878406459293696, 1796067781374, '57c47f5e-3f1b-5f76-8663-dca405cdaad1', '01a22dfb-6afd-7bcd-93b7-0da1a4cd3df3', 'c2050003-f80e-54f1-9824-43011f9f3ada', 10, 1, 1, 0, 1, 0, NULL, '\x2fec51e395510347bd85fb3f303ca4f19132cfd5d28f0cb0ee047e77d5ff7eff'),
	(16, 40, 40, 1796067781378, 2, 385878406471876608, 1796067781377, '3f712c4e-7e85-59d1-96d6-c2faaf867c08', '01a22dfb-6b01-7dc8-b63a-b5d4ca68fc25', '873061e2-f2c0-52ef-bfc1-a9925b25c93d', 10, 1, 1, 0, 1, 0, NULL, '\xbb8529442863b662b2ec6bd392796cd4a3914a2f1b7bf5bfab612e5fc474f741'),
	(16, 50, 50, 1796067781417, 1, 385878406635454464, 1796067781416, '3eb94dbd-7d7e-52cb-9940-42887f75d48b', '01a22dfb-6b28-7794-bcb7-63d9506bfce6', '8b5990dc-a73b-5595-8f10-4ea6da2d1830', 10, 1, 1, 0, 1, 0, NULL, '\x14acca3d35fbbe468fccf57dff092a967e5fe79889f66046633e8d7d9d0f60ae'),
	(16, 52, 52, 1796067781433, 2, 385878406706757632, 1796067781433, 'ab91d8b6-e9c1-5624-87c8-577a3f570ff2', '01a22dfb-6b38-700c-bbc8-f37e294337d1', '910cacfb-d815-530d-b80e-9cb70cfdfb74', 10, 1, 1, 0, 1, 0, NULL, '\x2ea477c95843b7b25bf4f1937673a4f977e93d9f5596abe05a204a1413011415'),
	(16, 62, 62, 1796067781475, 1, 385878406878724096, 1796067781474, '8475b1e5-31aa-551d-b59a-f0a402ef8f5e', '01a22dfb-6b62-7db8-b962-1e2caae75555', 'bd6d6e9c-d98a-53af-98c0-1be7bc8ea336', 10, 1, 1, 0, 1, 0, NULL, '\x2ecbc52d69c72907e11b52c916bbdee5fa3097aef4cbcff1d1bb182fc04eeee7'),
	(16, 67, 67, 1796067781498, 2, 385878406979387392, 1796067781498, '40587247-8cde-50f1-8ebe-751a0333c826', '01a22dfb-6b79-7058-921d-2717abd44631', '8e3191af-d185-52ac-af1e-08615337e945', 10, 1, 1, 0, 1, 0, NULL, '\xff626fe8aa7932c65be08c3511e3f1388d266bf69d55f49d58b3ec11d9ed7fd0'),
	(16, 68, 68, 1796067781501, 1, 385878406991970304, 1796067781501, 'b97ef4e9-3614-5426-9001-3b5a49f54cc4', '01a22dfb-6b7d-7ccd-b79c-5e703ed96a76', 'ac86ddf5-1acc-5749-a426-02673e7e5d99', 10, 1, 1, 0, 1, 0, NULL, '\x52dd97b97eaccbc361abeb555131d4a7ad6a58fce2083eefcbe700eca8756d36'),
	(16, 71, 71, 1796067781516, 1, 385878407054884864, 1796067781516, 'e40209ee-187c-51e4-a34c-67260912f0fd', '01a22dfb-6b8c-7b3f-aff3-f3c573c01aa2', '8f080635-9105-5b71-8766-b5183d1856b6', 10, 1, 1, 0, 1, 0, NULL, '\x5193a53f150631abfe507ca6aba723366e44f3901d9aa486006f258346db34a6'),
	(16, 74, 74, 1796067781527, 1, 385878407096827904, 1796067781526, '63f073e3-f872-5feb-8c60-897dc587e46e', '01a22dfb-6b96-744c-88d4-52e05e039097', 'b6d2318c-bf0a-5a06-9ee9-6b601714e346', 10, 1, 1, 0, 1, 0, NULL, '\xd8cea093ccfc8920efe097c6984d2562003ba63d4d1f75a760a288a9bb23495d'),
	(16, 76, 76, 1796067781534, 2, 385878407126188032, 1796067781533, '011faddb-0d36-5f09-b538-bafdbc682001', '01a22dfb-6b9d-7a7f-a156-533f43326282', '863b0f8f-2f28-5c0f-b974-94fb224aa924', 10, 1, 1, 0, 1, 0, NULL, '\xec36a7676aa112187ded6ab369c604229b170f67418714d925ea926b4621e6f4'),
	(16, 79, 79, 1796067781554, 2, 385878407210074112, 1796067781553, '52f24ca8-585f-5f00-8d08-2a5b55d15539', '01a22dfb-6bb1-7f7e-8df0-4bd236f64ef9', '403429f6-51ff-5ec3-9595-2e0e00305655', 10, 1, 1, 0, 1, 0, NULL, '\xe07588e2c0b3daa7791ee2bf19e8d079cdabe803109e5356ca527ad6e938d67d'),
	(16, 82, 82, 1796067781561, 2, 385878407243628544, 1796067781561, '1fd604d9-b497-520e-8643-c349e7762570', '01a22dfb-6bb9-7b4b-b6f6-3eb69e572193', '03b93d9e-1f14-50af-a968-cf9446a16994', 10, 1, 1, 0, 1, 0, NULL, '\x1f2f8d953655c6a725095254cbb9da456f1b6582b5dd90a0935d8330782c061f'),
	(16, 83, 83, 1796067781570, 1, 385878407281377280, 1796067781570, '9bd0b923-6189-573c-96c6-efd6f1b2ba92', '01a22dfb-6bc1-7a98-9d98-b014b35e2386', '7201f0e1-25f6-59a1-a82f-bf9e61fd51e2', 10, 1, 1, 0, 1, 0, NULL, '\xa78bcaa0cdb8193f4978e9f200bc6e10ef08dab23a98f852ec03e145f9ea9eeb'),
	(16, 91, 91, 1796067781602, 2, 385878407415595008, 1796067781602, '6beecc6b-b9dc-52f1-b78c-b4502bf2c2a6', '01a22dfb-6be1-7599-b365-a00a09ffc2f1', '784a8449-7978-5d7c-a011-a426c6c5f8fb', 10, 1, 1, 0, 1, 0, NULL, '\x55412c9542697933cd3500e572195e8b332fea83ee8e5dcbb3333b1947f38ec8'),
	(16, 93, 93, 1796067781607, 1, 385878407432372224, 1796067781606, 'be1a69d0-4a97-590f-a3b0-e5862950fa60', '01a22dfb-6be6-78dc-9e81-b3328a818ef6', '41319de5-984e-5b6b-89de-787536a8ae82', 10, 1, 1, 0, 1, 0, NULL, '\xe67371f7a79b7261377973f59b614f5ebd3707d960ead4e9fc46e757edea794e'),
	(16, 100, 100, 1796067781626, 2, 385878407516258304, 1796067781626, '57ffb6e7-650d-546b-a575-d7d9b1ba0930', '01a22dfb-6bfa-7a28-b44d-58c7135dabc9', 'a6b9962b-eb12-5112-ae0e-f70a753adb12', 10, 1, 1, 0, 1, 0, NULL, '\xbf12af6a619063c2c67f0fa35747a27917ad63af29313c8100f9657d3a3376f1'),
	(16, 101, 101, 1796067781629, 1, 385878407524646912, 1796067781628, '66d21600-e37f-5c8d-a1be-a538dc546737', '01a22dfb-6bfc-7ff6-b415-1f8ccaa30692', 'b3689c3b-834e-5dd6-bc4c-4e8ad126af99', 10, 1, 1, 0, 1, 0, NULL, '\x7c35c80a5fb198aa0b6e06f5be855348c26d8be8ba2ad039c915aff7f01e0d4a'),
	(16, 103, 103, 1796067781644, 2, 385878407587561472, 1796067781643, 'a5e3327e-4323-54aa-a5ee-9e756610b6e9', '01a22dfb-6c0b-71d8-8b19-75137254e0f1', 'e7b9ac3d-69b3-5f2b-806a-f02dc4b2d58c', 10, 1, 1, 0, 1, 0, NULL, '\xfc7886845c09eca348efc0126c551fe8ff53a85e0435a2a4474c2765464cb6f4'),
	(16, 107, 107, 1796067781653, 1, 385878407625310208, 1796067781652, '5429d1a8-2360-5b3e-8b97-3527058b89f8', '01a22dfb-6c14-7fb3-9ce1-f46568761b04', 'e7c39af2-1f7d-5142-ae23-ab3f3a06952e', 10, 1, 1, 0, 1, 0, NULL, '\x766a3be9b382c631922f37ec6a5cfb4c7c397463fe9e4db7af6fc8f91b6037b3'),
	(16, 109, 109, 1796067781659, 2, 385878407654670336, 1796067781659, '7fbeb5d3-998c-599b-a49f-e1be30fdf659', '01a22dfb-6c1b-72f5-babb-1eda4a66a6e7', '7ef91f3a-7d84-57dd-ad8b-1258ae5f07ed', 10, 1, 1, 0, 1, 0, NULL, '\x5648d010299e4a41468a82b2b323af581075b424b650ad1cb5907ef906f6b57f'),
	(26, 4, 13, 1796067781719, 1, NULL, NULL, '4cc4562e-52eb-5457-8f50-ccee7abd95f6', '01a22dfb-6c57-74e7-99a6-31cb2f605f39', NULL, 4, 22, 1, 0, NULL, NULL, NULL, '\x1d81a89231f197dc6a05a034ac837eb6f310256d541c2687e9b7f95729f36aa8'),
	(17, 4, 124, 1796067781761, 1, NULL, NULL, '85f99b8e-ef0a-5e1e-b0fd-b86257819bcd', '01a22dfb-6c81-7ac7-a6bf-6a2a1a84ea65', NULL, 10, 6, 1, 0, NULL, NULL, NULL, '\x8f99d4389728e574780391dbb5a7570616f52e80678ae8be98fdbd2dafa629a1'),
	(16, 44, 44, 1796067781392, 1, 385878406534791168, 1796067781392, '77826801-f646-5e37-bba7-6d525b3508ee', '01a22dfb-6b10-7c91-92c6-99dcb4781fdd', '02548138-c95b-5ac4-95a2-53a82c4b5905', 10, 1, 1, 0, 1, 0, NULL, '\x10351861e850c62a502092e635516d87f4f1dee45e9202c49dcf7ad4438357b5'),
	(16, 47, 47, 1796067781409, 1, 385878406601900032, 1796067781408, 'ee6e9dd0-d528-5814-a5d6-1945f1ae250d', '01a22dfb-6b20-7ca4-9fbb-5d2ad1a3f65d', '8cfe1533-9da1-5143-b013-420e2a9ff4ce', 10, 1, 1, 0, 1, 0, NULL, '\xebcb9f510f4babebcb863afbc3400a12510ee1b6ca554b4dfa67171de73f3983'),
	(16, 48, 48, 1796067781412, 1, 385878406618677248, 1796067781412, '4e7752ff-96cd-5705-a160-d2a588431f41', '01a22dfb-6b23-7740-9fd7-1b73b97ca20b', 'fb41b09e-d79c-5d65-9809-a3c67b38271b', 10, 1, 1, 0, 1, 0, NULL, '\x608378e836ad784e41087c09bd8ee6bebe424a9d336038ae98f3ae8790cc1da6'),
	(16, 51, 51, 1796067781430, 1, 385878406694174720, 1796067781430, 'ce9a90dd-419c-5a88-8037-fb719ddbe280', '01a22dfb-6b35-7f04-be4e-96847d36b18e', 'adbcfca7-2dab-59ec-8e41-c9817532a686', 10, 1, 1, 0, 1, 0, NULL, '\x7bd9d3c857ae0beab794e29aaec230274c23931a48afab7a50c20386a2939356'),
	(16, 53, 53, 1796067781438, 1, 385878406723534848, 1796067781437, 'ee9bbb7a-80ea-5351-a1b1-dc5894bdbaeb', '01a22dfb-6b3d-7d1c-81c3-791930f85c39', '346515ee-95fe-5975-a111-18b846284017', 10, 1, 1, 0, 1, 0, NULL, '\x91c9c957b1567beeb4f47a07520a9bed525c1355bdab559e2fd459aeddeef447'),
	(16, 56, 56, 1796067781451, 1, 385878406782255104, 1796067781451, '3e20c201-d518-56f7-8c7b-282f329db745', '01a22dfb-6b4b-78b3-bca3-804a94c85273', '4a21562b-d6ba-5182-9aa9-378b5e48706e', 10, 1, 1, 0, 1, 0, NULL, '\xef60667e99275bae7c40145be9dda542be6b90b2ca5d882d96f52a4702d08506'),
	(16, 57, 57, 1796067781454, 1, 385878406790643712, 1796067781453, '0f2c0632-2d4c-523e-9fda-a6a2a2ca9ff7', '01a22dfb-6b4d-76d3-8ab0-6dbd2e4dc16b', '1e098a27-1a90-5e6c-b147-c84d688b5196', 10, 1, 1, 0, 1, 0, NULL, '\xff62f46ef7973dad92baaa65d718f45cc62d7ba16c3331f3c74feff35e75331c'),
	(16, 64, 64, 1796067781485, 2, 385878406924861440, 1796067781485, 'b0a16e96-471c-59fc-934a-745c91f9c8b1', '01a22dfb-6b6d-7dc2-9328-939f64fdda01', '6c71144a-acd0-56d2-9977-53934dd1dfea', 10, 1, 1, 0, 1, 0, NULL, '\xfe97975cd27cf97fb983260ee72fab7ce62b306bc0dda863d95d8e073335a45d'),
	(16, 65, 65, 1796067781488, 1, 385878406937444352, 1796067781488, 'f30dded7-20e1-501d-861a-58558ce6d220', '01a22dfb-6b6f-7172-b660-c7e90ea3fd0f', '4daf6c75-cfdc-53b8-9f2a-04644f2c8dab', 10, 1, 1, 0, 1, 0, NULL, '\x976726dd53d7bace85f4a6c2cd5250f89db913b2561e14886d0f7563a532791d'),
	(16, 70, 70, 1796067781514, 2, 385878407042301952, 1796067781513, '1c923abd-6cd4-54e1-90fb-2bc3944e1b45', '01a22dfb-6b89-735b-899e-26a645fae5e6', '2e94f9de-2c98-5605-b8f0-a3ac4a261726', 10, 1, 1, 0, 1, 0, NULL, '\xdcd1096983ad95ce7fa51a48fab3972c9a2c2300f21766d5b0e507ce77afea31'),
	(16, 73, 73, 1796067781524, 2, 385878407088439296, 1796067781524, '1ad3ea1a-78d0-5a63-8091-74832766ab4e', '01a22dfb-6b93-79b4-b199-79c5bbfe1e5d', 'ab86ec86-dd31-5b7a-b2ad-9827f810bc66', 10, 1, 1, 0, 1, 0, NULL, '\x6ae5ec52b89eddabf3dfec10a50ae4ba011c332b44653996f6bf2672999072e0'),
	(16, 77, 77, 1796067781536, 1, 385878407134576640, 1796067781535, '0d6631d9-12aa-50f1-b7d5-4c58add02147', '01a22dfb-6b9f-7fb3-945b-3af1433e0d4e', 'd949a100-9869-5eb7-9fba-f09f5a888029', 10, 1, 1, 0, 1, 0, NULL, '\x009c15735dc8170c1cb02c95c441639282e4ab14242db7201211601bbf2b8120'),
	(16, 85, 85, 1796067781575, 2, 385878407302348800, 1796067781575, 'c09b9446-8a3e-5187-9795-eee2c08b6222', '01a22dfb-6bc6-7f75-a313-3f3c821be94f', '24556218-c8cf-5da3-901c-5dedf2a424f0', 10, 1, 1, 0, 1, 0, NULL, '\x279f77a4a6794f9f60d9f91cc90b41efefdba62db3d888b1b3b8863ff1c0ec07');
INSERT INTO log.event VALUES
	(16, 87, 87, 1796067781589, 1, 385878407356874752, 1796067781588, '2cc907aa-5db7-5706-befe-8a3bde8f2559', '01a22dfb-6bcb-7176-a083-42c724a91eae', '53e36c4d-87a3-5347-a33f-3c0ee5bce372', 10, 1, 1, 0, 1, 0, NULL, '\xe73646901fca7e6928ab2ef98a5e57d8c2da10bef6efe6eee46e9f9716a087f8'),
	(16, 88, 88, 1796067781594, 2, 385878407382040576, 1796067781594, '71e55e2c-1837-534b-a385-516ebe1a7894', '01a22dfb-6bd9-702b-adee-da31c21315df', 'e39d37a1-f684-5101-8d4f-12f7a71e64eb', 10, 1, 1, 0, 1, 0, NULL, '\xd173975fbefc937e3f65a515c865ffa582385fed605193ad91a3fd3f11e963fa'),
	(16, 92, 92, 1796067781604, 1, 385878407423983616, 1796067781604, '4ff0ce23-5c0a-5a08-aaea-99b2ad60bfde', '01a22dfb-6be4-74ef-86db-155a0893478b', 'f0807a60-d0d4-5b0a-954e-a6fd180d303b', 10, 1, 1, 0, 1, 0, NULL, '\x252c84847f9ee3e308fd3025bf764df5657e5ebb67fb3c93a37f33f3b05d4817'),
	(16, 96, 96, 1796067781614, 1, 385878407461732352, 1796067781613, 'b38ff23c-4d6d-50cf-bc0e-855f70fbfbad', '01a22dfb-6bed-7709-a140-d521dd273b23', 'e428c58c-8b39-5673-9026-f0f67a8ad987', 10, 1, 1, 0, 1, 0, NULL, '\xb34c377f4b8b877a8eb8ebdc392431cadc22b4f068242f0dccc97fa371f6827d'),
	(16, 99, 99, 1796067781624, 1, 385878407507869696, 1796067781624, '5c6563a7-8fb8-5376-b3de-ef91c610c42e', '01a22dfb-6bf7-7272-ac1f-ead16b7be6fd', '26518316-6541-514f-a18a-f5b0092459f8', 10, 1, 1, 0, 1, 0, NULL, '\xb2f20203f3bf071ddbfed49ba689c29d3c375649cc88ddcf2adaea6a7f507c01'),
	(16, 102, 102, 1796067781641, 1, 385878407579172864, 1796067781641, 'db41a66b-7362-540e-b894-de6ae31f4183', '01a22dfb-6c09-7596-a27b-c39b8ec21c17', '9489445d-23bf-55b0-9d9f-422fe665a1f2', 10, 1, 1, 0, 1, 0, NULL, '\x23f579b02a0beb1d62b7357536e9b4b08762c1f053a57df4450a6168873d15d6'),
	(16, 105, 105, 1796067781648, 1, 385878407608532992, 1796067781648, 'f97ee08b-b74b-5ec1-b9da-27cc3ccbd72c', '01a22dfb-6c10-79d3-b482-7ae2d853f46a', 'b1304fd7-46db-5fe1-85a5-cae00e6e44c2', 10, 1, 1, 0, 1, 0, NULL, '\x65a99d3364b8c3a41bc6e73177a979db6a1e392ec42fbca1e2b04e07a6ff79e6'),
	(16, 108, 108, 1796067781657, 1, 385878407646281728, 1796067781657, '6516983f-3049-58c5-ac28-6c6bc3981b1f', '01a22dfb-6c19-767f-87a4-9c6c81d788c4', '75703cc4-3300-55a8-9f1f-3127644564c1', 10, 1, 1, 0, 1, 0, NULL, '\xc07e26244faf1247f954c5b639800583037bb07fd631f25fb9f681664be9ceb9'),
	(16, 111, 111, 1796067781664, 1, 385878407671447552, 1796067781663, 'bdb6f95b-9819-53d6-84ea-5c2bcbc71788', '01a22dfb-6c1f-7e8b-bfeb-afc048361e7f', '2a5fec28-53fe-5982-8c86-f034b2c9a008', 10, 1, 1, 0, 1, 0, NULL, '\xa6cdf7a0c203a886e78c7064769fef3ef45882b576231bedee585fca2e42f767'),
	(16, 112, 112, 1796067781666, 2, 385878407684030464, 1796067781666, '8f489064-77f4-540a-b973-628f94ab1791', '01a22dfb-6c21-7731-b5a5-f2bbf180fa6c', '24d7bc3e-28d4-5b96-bc9b-cd7db4292bee', 10, 1, 1, 0, 1, 0, NULL, '\x39dbc32af9d8cd661845f000e3d5493777a3842a60e446467d229b81c28c8f7f'),
	(16, 116, 116, 1796067781685, 1, 385878407759527936, 1796067781684, '0ac416d6-7500-5b9d-9c30-eb9bd63b4e82', '01a22dfb-6c34-71a3-b780-5740f1057033', 'a68e53a2-62fa-5857-af34-fc1cda52f283', 10, 1, 1, 0, 1, 0, NULL, '\xc50aa5e77b31ba9f8485b666d30293d66cd6a10bf7ed83f038d16bdb86f4b688'),
	(24, 1, 10, 1796067781706, 1, 385878407847608320, 1796067781705, 'b9e4cb90-739e-5168-a6d1-b878eb1e1428', '01a22dfb-6c49-7bf4-be47-c00ec21761a7', '8cafe9d0-2989-5d65-8739-9269fe0a4f2f', 4, 1, 1, 0, 1, 0, NULL, '\x57dece8398d35c3968d2ad4e042b789de4537c34ee72a461a1c607666838bbf6'),
	(24, 2, 12, 1796067781717, 3, 385878407897939968, 1796067781717, 'ae7ccc13-765d-5971-a7d9-a2c2df851628', '01a22dfb-6c55-74e5-9b03-c0a6558032d6', 'aa75969c-9579-59f0-bcb4-4cd226d2f15d', 4, 1, 1, 0, 1, 0, NULL, '\x264fc6c2cabee1cdfb03f8cf34cc799b55cb73d3ad1fb447fb59b53d9543e9e9'),
	(16, 45, 45, 1796067781398, 1, 385878406555762688, 1796067781397, '34bb97b1-8274-5db9-a6ec-fa4c2c3e2e0e', '01a22dfb-6b15-7151-9774-8e48df53e81d', 'dc950bf1-735b-5f51-80c4-ee4ae995701e', 10, 1, 1, 0, 1, 0, NULL, '\xe23c0c3eabdc81c83ad366786323aab74e105de810f57596df3ed317f2d8c9ce'),
	(16, 59, 59, 1796067781459, 1, 385878406811615232, 1796067781458, '74661c2a-17c6-525b-9a3c-c51df7257f8a', '01a22dfb-6b52-7c4a-bff6-f83ebb69b7a7', '446e012f-77e3-5f08-b613-a4ff33f660fd', 10, 1, 1, 0, 1, 0, NULL, '\x0aef7c453b9cd69720bb6999b5708b8d935f5dddf927db749b262b7a299c440b'),
	(16, 61, 61, 1796067781470, 2, 385878406857752576, 1796067781469, '2334fb83-8825-5b5c-9a36-32bee1c5cc4a', '01a22dfb-6b5d-7cc5-b064-cbb71f1ea890', '07b7c179-3dad-595e-80ef-e1535d96b502', 10, 1, 1, 0, 1, 0, NULL, '\x74fef497010b0eca8322944ee3d84c124e555333815bc203ace26e42bd533a70'),
	(16, 63, 63, 1796067781478, 1, 385878406891307008, 1796067781477, '3b7aa0b9-e735-5927-8b7b-2a07feb8c32a', '01a22dfb-6b65-75ed-95dd-5d3d153a2a7b', 'bcd72b88-2341-5e8a-b5ad-1a4d4eb1091d', 10, 1, 1, 0, 1, 0, NULL, '\x43b25bfef2ab9844d75da5b144fe2c076be534f8129c4fafa0d99723ed51e1df'),
	(16, 66, 66, 1796067781492, 1, 385878406945832960, 1796067781490, 'a224fc26-a28c-5850-b767-14010f61c9db', '01a22dfb-6b72-7794-8e2c-abd6ccbd4041', '5041f892-ae29-5422-a3c1-55e153587615', 10, 1, 1, 0, 1, 0, NULL, '\x839376394497a76739aa0d609b04d11d8d0effccfeef1462d1f9380cf03c0f56'),
	(16, 69, 69, 1796067781509, 1, 385878407025524736, 1796067781509, 'ebadab03-3186-5c7e-a1cc-03ccdd69b8ac', '01a22dfb-6b84-7888-8205-b30438352865', '56ca9572-94b6-5378-8c72-b5515fa0ee9f', 10, 1, 1, 0, 1, 0, NULL, '\x689c86df6cd1952ba50b9367544a56f07a37a6d9752c0543d1db85c5d469612f'),
	(16, 75, 75, 1796067781529, 1, 385878407105216512, 1796067781528, 'be62410b-3fc6-5d2b-bced-dfe9b0451021', '01a22dfb-6b98-7852-a47c-26a41a0746d7', 'a55771e5-914f-535a-8e94-6e633a06938d', 10, 1, 1, 0, 1, 0, NULL, '\xc552bc2ed74c267b1dae8eff25eee7fc8532542f4391c874e667f52c723080eb'),
	(16, 78, 78, 1796067781538, 1, 385878407147159552, 1796067781538, '83c60b9c-e887-53b6-a89b-e7c765dee98a', '01a22dfb-6ba2-72cf-a81e-c0bb19b8aa6d', 'b8ff9c56-f34b-5207-8285-57754438f4cb', 10, 1, 1, 0, 1, 0, NULL, '\xb4f486ae739a805f9342a966a17306326a25c15fbc8b15b446384bff85003b54'),
	(16, 80, 80, 1796067781556, 1, 385878407218462720, 1796067781555, '7580a2f7-33a7-5bb4-ac02-812256946332', '01a22dfb-6bb3-7d36-b640-4937fae723ad', 'c775595a-9ff0-59ad-9c0f-5c2dbe58d53e', 10, 1, 1, 0, 1, 0, NULL, '\xc6a54db0486ea2d4745cc9e9e298f6b487aa09f0b0a1b03293736e58b0213c08'),
	(16, 81, 81, 1796067781559, 1, 385878407235239936, 1796067781559, 'bb4b69a4-7a7a-5ff0-9203-bac85385ac91', '01a22dfb-6bb6-7e58-8d99-9fe4402043f6', 'ba8b87ec-4842-5c78-9b2d-907db97d9023', 10, 1, 1, 0, 1, 0, NULL, '\x4eab97d341a3109f4b41fffc669c2eec7e24bb78aaf4379d8ee4392269235e35'),
	(16, 84, 84, 1796067781572, 1, 385878407289765888, 1796067781572, '71bdb91d-4d04-5f9c-92e2-30004ca135e0', '01a22dfb-6bc4-71d2-9ebf-32a065bc5cc9', '1ec57a90-d76f-514a-946d-7a00efc58e5f', 10, 1, 1, 0, 1, 0, NULL, '\x154280b92196d33c057a82f585d3b1afd8ef8d271195fa8129527681a8087a88'),
	(16, 89, 89, 1796067781597, 1, 385878407394623488, 1796067781597, '080b9f21-4c44-5acc-8811-09631d0775ea', '01a22dfb-6bdd-7309-95fb-b1bb37437ce4', 'ce995c51-06d8-5703-b3e5-ae2eed9ba597', 10, 1, 1, 0, 1, 0, NULL, '\xabef1c43185541a9a9faacdf5de4846afe536b505a484ae19a2a30e2dffb614c'),
	(16, 94, 94, 1796067781609, 2, 385878407440760832, 1796067781608, 'ed509c80-a2ba-5453-b474-c3f3eb7e33a8', '01a22dfb-6be8-7efd-ae9b-bfb732a895f3', 'd2c4e7e9-f34e-5532-8402-c71a4ff7fc9e', 10, 1, 1, 0, 1, 0, NULL, '\x9c71fcb063e6f38ea11475038219c5578783d42c28065c7526d2e25a1a3b50a4'),
	(16, 98, 98, 1796067781622, 1, 385878407499481088, 1796067781622, '88b4d362-d955-5488-8b3f-bd49ab662c95', '01a22dfb-6bf5-7612-8b33-e189be36a4b4', '62cd9ef0-dad2-539b-aaa7-7b92273e99d9', 10, 1, 1, 0, 1, 0, NULL, '\x2403a01087b08bc698c1b171cb0820688f0a51ccb92ab8e6ba809d777291025e'),
	(16, 104, 104, 1796067781646, 1, 385878407595950080, 1796067781645, '7c21645c-7fcd-5699-8f6c-0bd479b211c6', '01a22dfb-6c0d-7386-8757-0970a3aaced0', '723f0f36-b53d-5cb0-b7f6-b87e9ea9e89e', 10, 1, 1, 0, 1, 0, NULL, '\xfc3b1ee7dac184f29fd0788daa65c983c278e95672511ba8b7ef9a765f890df8'),
	(16, 110, 110, 1796067781662, 1, 385878407663058944, 1796067781661, 'c89891bd-a1ac-5703-86ec-95d33c7e345d', '01a22dfb-6c1d-7bc4-ba8e-516d94b61c20', '046582b8-f946-5a51-b47b-95b0df1b340d', 10, 1, 1, 0, 1, 0, NULL, '\xe328e8651bd8049d04007296f6768fece18179daa540b38174463a06b32852a3'),
	(16, 113, 113, 1796067781674, 1, 385878407713390592, 1796067781673, 'f002bdb6-75e7-5f25-940e-19b462608da5', '01a22dfb-6c29-7b9a-b51b-e61c58e52f8c', '44a8528e-2ee3-58c1-9bb0-3718ce627481', 10, 1, 1, 0, 1, 0, NULL, '\x54eaf7e5ade08117fef0f18635d35d4abc831b828d95383da9c63a78c20c7551'),
	(16, 117, 117, 1796067781687, 1, 385878407772110848, 1796067781687, '2f211034-c046-596e-881f-5ac9a8ce821a', '01a22dfb-6c37-7d3e-984b-b3da0f4d57ab', 'cae62ef2-e1e5-50d6-88df-832f2494d4a7', 10, 1, 1, 0, 1, 0, NULL, '\x76449e280e68a7b92a4c08ecb8241928175fb4bc0bc0703a5b4155ea9d0e2b46'),
	(16, 118, 118, 1796067781690, 2, 385878407780499456, 1796067781689, 'b1aa1a1e-0c36-59f4-9adf-a26a30a94691', '01a22dfb-6c39-7e10-9e8e-d82c95009f50', '2531834e-945b-5b02-a788-d17a080726d5', 10, 1, 1, 0, 1, 0, NULL, '\x27176273a837104915e09fa223f610599496d750510fa13b75cfd1c915dd92e7'),
	(16, 120, 120, 1796067781694, 1, 385878407801470976, 1796067781694, '03dd2efe-42fc-58f7-854e-488ccf6eb139', '01a22dfb-6c3e-7955-9e5a-fc19c62737de', '5ec8c1c4-8864-5e42-845b-bd1b061070c8', 10, 1, 1, 0, 1, 0, NULL, '\xe3e148f39fee6ebf4d8c3cfcd4e7f2ca0076ef4d8236e968c6dc672953297d7c'),
	(26, 1, 8, 1796067781697, 1, NULL, NULL, 'ffac5b59-b98c-5159-9a8b-9913a6590021', '01a22dfb-6c41-7120-844c-603dfc008bb1', NULL, 4, 20, 1, 0, NULL, NULL, NULL, '\xeae1c2eb77b5648b3a6d06e656ae09bbfc8f0dfabc7e6f2615e5aa7bf292af62'),
	(26, 2, 9, 1796067781697, 1, NULL, NULL, 'd17b015e-3d42-5949-90df-105803d8db28', '01a22dfb-6c41-7120-844c-603dfc008bb1', NULL, 4, 21, 1, 0, NULL, NULL, NULL, '\xa9570168af202dc7438a2781be2c24805782e0a32ec0afde5bef2398fe688102'),
	(17, 1, 121, 1796067781722, 1, NULL, NULL, '7961dbc7-9e97-52a6-bfd2-c9766a35628a', '01a22dfb-6c59-72c1-a8b2-bc769c3be338', NULL, 10, 2, 1, 0, NULL, NULL, NULL, '\x3bb836a8931848a9263502356eb38c05c871419777c085b789188f00b45e00a5'),
	(17, 2, 122, 1796067781725, 2, NULL, NULL, '45808f17-9fa6-5169-af66-c5b187c476f2', '01a22dfb-6c5c-74a8-83e2-b7856a4a001a', NULL, 10, 3, 1, 0, NULL, NULL, NULL, '\xed16418c392308a9601b439bee8f84672ad0a865f5c6b4af5d0fe084228ee44d'),
	(34, 1, 1, 1796067789407, 1, NULL, NULL, 'f8f53681-1190-5441-a36f-a4fa26e306a2', '01a22dfb-8a5d-741a-bda7-67987eb9dd69', NULL, 6, 20, 2, 0, NULL, NULL, NULL, '\xbdf3956c4d6e528198e9595fff9dff31b5e7cc02413767ac7faca1c6140b6452'),
	(34, 2, 2, 1796067789407, 1, NULL, NULL, 'f1a489fe-b96e-5b48-9320-96c7b62214e4', '01a22dfb-8a5d-741a-bda7-67987eb9dd69', NULL, 6, 21, 2, 0, NULL, NULL, NULL, '\x63366b8db30e389aae6a8cda7c2515d46872baf65c09c0f85de8eeed83a67b28'),
	(32, 1, 3, 1796067789407, 0, 385878440143749120, 1796067789405, 'e1acbe28-ef7d-5644-b8a4-3d19292c4f02', '01a22dfb-8a5d-741a-bda7-67987eb9dd69', 'e1acbe28-ef7d-5644-b8a4-3d19292c4f02', 6, 1, 1, 0, 10, 0, NULL, '\x8c729856663d71dd22c3dc52f8e70955cccee0cd418226a17b60bdd7f18e0755'),
	(32, 2, 4, 1796067789424, 1, 385878440219246592, 1796067789423, '5efc26e8-ff63-5ef9-96cf-0b60f077a7f9', '01a22dfb-8a6e-7893-8669-9060644e9828', 'e7b13f40-4f3b-5b71-8034-fe187e0a931f', 6, 1, 1, 0, 1, 0, NULL, '\x647f16c48ae36a5bad725bf3c350e4d70c06783840c5d2a59ff5f1acc69c77ff'),
	(34, 3, 5, 1796067789436, 1, NULL, NULL, 'dda4e40f-f833-5ca1-8cb3-a15a4211e95c', '01a22dfb-8a77-71b7-aeba-a0b977bb73c6', NULL, 6, 23, 1, 0, NULL, NULL, NULL, '\x2ff83c64aa057f19b6543f6540374c4602256d0a71ab0b20af4114d7b472b366'),
	(33, 1, 6, 1796067789467, 2, NULL, NULL, '85905321-60b9-50e5-9c90-2d6e93cd450a', '01a22dfb-8a9a-7488-afbe-b563a6a31cb9', NULL, 6, 8, 1, 0, NULL, NULL, NULL, '\xb083063e4f17a7842fb9a60dbd72e781888a61de15a1aaee7682cb67435f207f'),
	(16, 121, 125, 1796067789724, 1, 385878441439789056, 1796067789714, '4d9d464f-a8d7-515a-b736-73820e30b2c0', '01a22dfb-8b92-76a6-9551-d63e8c6cf995', '731aaf41-eb53-536f-a986-6772f9aca610', 10, 1, 1, 0, 1, 0, NULL, '\xcbc2b34619b27893cf99ad60d002576fa54f024d79221375d9e9a35ce3d1c9f4'),
	(33, 2, 7, 1796067789737, 1, NULL, NULL, '0227f240-d942-58a9-bb43-9bc79919dc53', '01a22dfb-8ba7-7140-bf2a-a2a2eafcc5c8', NULL, 6, 2, 1, 0, NULL, NULL, NULL, '\x02805ea47d5c22b5040224bf3072add9dc455a369f1d0ff3fcae2e60a40ea6ac');

INSERT INTO log.info VALUES
	(true, '01a22dfb-6731-7a8c-b727-c0548e6f2d8a', 1, 16, 'blake3-64-mod', 100, 1796067780401);

INSERT INTO log.piece VALUES
	(10, 'group', '{"name":"edge","creator":1,"history":"all","members":2}'),
	(10, 'member/1', '{"role":"owner","joined_seq":0,"source":["edge",1704103200000,0]}'),
	(10, 'member/2', '{"role":"member","joined_seq":1,"source":["edge",1704103218000,0]}'),
	(10, 'member/3', '{"joined_seq":2,"source":["edge",1704103221000,0]}'),
	(26, 'member/1', '{"role":"owner","joined_seq":0}'),
	(26, 'member/3', '{"role":"member","joined_seq":1}'),
	(26, 'group', '{"name":"Old","creator":1,"history":"joined","members":2}'),
	(26, 'member/2', '{"joined_seq":0}'),
	(17, 'recall/119', '{"by":1,"at":1796067781721}'),
	(17, 'deleted/2/0', '[0,16]'),
	(17, 'deleted/2/1', '[0,131072]'),
	(17, 'person/2', '{"read_seq":100,"cleared_seq":0}'),
	(17, 'person/1', '{"read_seq":0,"cleared_seq":10}'),
	(34, 'group', '{"name":"New","creator":1,"history":"joined","members":3}'),
	(34, 'member/1', '{"role":"owner","joined_seq":0}'),
	(34, 'member/3', '{"role":"member","joined_seq":0}'),
	(34, 'member/2', '{"role":"admin","joined_seq":0}'),
	(33, 'person/2', '{"read_seq":0,"cleared_seq":0,"settings":[true,false]}'),
	(33, 'recall/2', '{"by":1,"at":1796067789736}');

INSERT INTO public.checkpoint VALUES
	('conversation', 1, 0, 0),
	('conversation', 1, 1, 0),
	('conversation', 1, 2, 0),
	('conversation', 1, 3, 0),
	('conversation', 1, 5, 0),
	('conversation', 1, 7, 0),
	('conversation', 1, 8, 0),
	('conversation', 1, 9, 0),
	('conversation', 1, 11, 0),
	('conversation', 1, 12, 0),
	('conversation', 1, 4, 13),
	('conversation', 1, 10, 125),
	('conversation', 1, 6, 7),
	('conversation', 1, 13, 0),
	('conversation', 1, 14, 0),
	('conversation', 1, 15, 0);

INSERT INTO public.instance VALUES
	(0, '01a22dfb-8f06-7142-8d95-c5f10681022e', 1796067812940);

INSERT INTO public.projection VALUES
	('conversation', 1);

INSERT INTO public.refinery_schema_history VALUES
	(1, 'log', '2026-11-30T19:43:00.2052008Z', '11795208762267430810'),
	(2, 'read_models', '2026-11-30T19:43:00.264893183Z', '5830370254082651789'),
	(3, 'instance', '2026-11-30T19:43:00.392489641Z', '10811648763765321445'),
	(4, 'groups_and_lists', '2026-11-30T19:43:09.087874158Z', '8376638353434120592'),
	(5, 'sync', '2026-11-30T19:43:09.136946375Z', '1903834601456786520');

SELECT pg_catalog.setval('log.conversation_conv_no_seq', 4, true);

ALTER TABLE ONLY conversation_g1.deleted
    ADD CONSTRAINT deleted_pkey PRIMARY KEY (conv_id, uid, bucket);

ALTER TABLE ONLY conversation_g1.departure
    ADD CONSTRAINT departure_pkey PRIMARY KEY (uid, conv_id);

ALTER TABLE ONLY conversation_g1.group_read
    ADD CONSTRAINT group_read_pkey PRIMARY KEY (conv_id, uid);

ALTER TABLE ONLY conversation_g1.head
    ADD CONSTRAINT head_pkey PRIMARY KEY (conv_id);

ALTER TABLE ONLY conversation_g1.history_bucket
    ADD CONSTRAINT history_bucket_pkey PRIMARY KEY (conv_id, bucket);

ALTER TABLE ONLY conversation_g1.history_tail
    ADD CONSTRAINT history_tail_pkey PRIMARY KEY (conv_id, seq);

ALTER TABLE ONLY conversation_g1.member_by_conv
    ADD CONSTRAINT member_by_conv_pkey PRIMARY KEY (conv_id, uid);

ALTER TABLE ONLY conversation_g1.member_by_person
    ADD CONSTRAINT member_by_person_pkey PRIMARY KEY (uid, conv_id);

ALTER TABLE ONLY conversation_g1.mention
    ADD CONSTRAINT mention_pkey PRIMARY KEY (conv_id, uid, seq);

ALTER TABLE ONLY conversation_g1.recall
    ADD CONSTRAINT recall_pkey PRIMARY KEY (conv_id, seq);

ALTER TABLE ONLY conversation_g1.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (conv_id, uid);

ALTER TABLE ONLY conversation_g1.system_message
    ADD CONSTRAINT system_message_pkey PRIMARY KEY (conv_id, seq);

ALTER TABLE ONLY conversation_g1.watermark
    ADD CONSTRAINT watermark_pkey PRIMARY KEY (conv_id, uid);

ALTER TABLE ONLY log.body
    ADD CONSTRAINT body_pkey PRIMARY KEY (shard, "position", recorded_at);

ALTER TABLE ONLY log.body_202611
    ADD CONSTRAINT body_202611_pkey PRIMARY KEY (shard, "position", recorded_at);

ALTER TABLE ONLY log.conversation
    ADD CONSTRAINT conversation_conv_id_key UNIQUE (conv_id);

ALTER TABLE ONLY log.conversation
    ADD CONSTRAINT conversation_pkey PRIMARY KEY (conv_no);

ALTER TABLE ONLY log.digest
    ADD CONSTRAINT digest_pkey PRIMARY KEY (shard, "position");

ALTER TABLE ONLY log.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (stream_id, version);

ALTER TABLE ONLY log.info
    ADD CONSTRAINT info_pkey PRIMARY KEY (only_one);

ALTER TABLE ONLY log.piece
    ADD CONSTRAINT piece_pkey PRIMARY KEY (stream_id, key);

ALTER TABLE ONLY public.checkpoint
    ADD CONSTRAINT checkpoint_pkey PRIMARY KEY (name, generation, shard);

ALTER TABLE ONLY public.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.parked
    ADD CONSTRAINT parked_pkey PRIMARY KEY (name, generation, conv_id);

ALTER TABLE ONLY public.projection
    ADD CONSTRAINT projection_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.refinery_schema_history
    ADD CONSTRAINT refinery_schema_history_pkey PRIMARY KEY (version);

CREATE UNIQUE INDEX event_by_id ON log.event USING btree (stream_id, event_id) WHERE (event_type = ANY (ARRAY[1, 6, 7]));

CREATE INDEX event_by_msg_id ON log.event USING brin (msg_id) WITH (autosummarize='on');

CREATE INDEX event_change ON log.event USING btree (stream_id, "position") WHERE (event_type <> ALL (ARRAY[1, 5]));

CREATE UNIQUE INDEX event_in_shard ON log.event USING btree (shard, "position");

CREATE INDEX parked_by_shard ON public.parked USING btree (name, generation, shard);

ALTER INDEX log.body_pkey ATTACH PARTITION log.body_202611_pkey;

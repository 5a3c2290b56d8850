-- Who makes message ids under which instance number. A number's ids exist only below reserved_until (unix ms), and
-- a later owner's window begins where the earlier one's ended, whatever the clocks do.
create table instance (
    number         integer primary key check (number between 0 and 1023),
    owner          uuid,                    -- null: released
    reserved_until bigint  not null
);

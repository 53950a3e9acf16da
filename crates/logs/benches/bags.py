"""The Python side of the benchmark `bags`: answers one line for every line it reads.

    python bags.py FOLDER

writes a bag of ROS 2 to FOLDER/bag.mcap (zstd) and FOLDER/bag.db3, with inertial data, joints and a laser scanner, says
`ready` with the versions of rosbags and mcap, and then understands

    rosbags PASSES  -> seconds of wall time and of processor time of a pass over the MCAP file with rosbags
    mcap PASSES     -> the same with mcap and mcap-ros2-support
    db3 PASSES      -> the same over the SQLite file with rosbags
    result          -> for the sum of each column of /imu and /joints, in the order of the fields, what rosbags finds

A pass reads every message of every topic and keeps its numbers.
"""

import importlib.metadata
import math
import pathlib
import sqlite3
import sys
import time

import numpy as np
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from mcap_ros2.decoder import DecoderFactory
from rosbags.typesys import Stores, get_typestore

TYPES = get_typestore(Stores.ROS2_HUMBLE)
T = TYPES.types
START = 1_700_000_000_000_000_000
ROWS = 20_000
NAMES = {"/imu": "sensor_msgs/msg/Imu", "/joints": "sensor_msgs/msg/JointState", "/scan": "sensor_msgs/msg/LaserScan"}


def messages():
    random = np.random.default_rng(0)
    vector = lambda kind, *values: T[f"geometry_msgs/msg/{kind}"](**dict(zip("xyzw", values)))
    for row in range(ROWS):
        now = START + row * 5_000_000
        stamp = T["builtin_interfaces/msg/Time"](sec=now // 10**9, nanosec=now % 10**9)
        header = T["std_msgs/msg/Header"](stamp=stamp, frame_id="base_link")
        yield "/imu", now, T["sensor_msgs/msg/Imu"](
            header=header,
            orientation=vector("Quaternion", *random.normal(size=4)),
            orientation_covariance=np.full(9, 0.01),
            angular_velocity=vector("Vector3", *random.normal(size=3)),
            angular_velocity_covariance=np.full(9, 0.02),
            linear_acceleration=vector("Vector3", *random.normal(size=3)),
            linear_acceleration_covariance=np.full(9, 0.03),
        )
        yield "/joints", now, T["sensor_msgs/msg/JointState"](
            header=header,
            name=[f"joint_{joint}" for joint in range(12)],
            position=random.normal(size=12),
            velocity=random.normal(size=12),
            effort=random.normal(size=12),
        )
        if row % 20 == 0:
            yield "/scan", now, T["sensor_msgs/msg/LaserScan"](
                header=header,
                angle_min=-math.pi,
                angle_max=math.pi,
                angle_increment=0.0087,
                time_increment=0.0,
                scan_time=0.1,
                range_min=0.1,
                range_max=30.0,
                ranges=random.uniform(size=720).astype(np.float32),
                intensities=np.array([], dtype=np.float32),
            )


def write(folder):
    database = sqlite3.connect(folder / "bag.db3")
    database.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL)")
    database.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL, data BLOB NOT NULL)")
    with open(folder / "bag.mcap", "wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start(profile="ros2")
        channels = {}
        for index, (topic, kind) in enumerate(NAMES.items()):
            schema = writer.register_schema(kind, "ros2msg", TYPES.generate_msgdef(kind, ros_version=2)[0].encode())
            channels[topic] = writer.register_channel(topic, "cdr", schema)
            database.execute("INSERT INTO topics VALUES (?,?,?,'cdr','')", (index, topic, kind))
        numbers = {topic: index for index, topic in enumerate(NAMES)}
        for topic, now, message in messages():
            data = bytes(TYPES.serialize_cdr(message, NAMES[topic]))
            writer.add_message(channels[topic], log_time=now, publish_time=now, data=data)
            database.execute("INSERT INTO messages(topic_id,timestamp,data) VALUES (?,?,?)", (numbers[topic], now, data))
        writer.finish()
    database.commit()
    database.close()


def xyz(vector, names="xyz"):
    return [getattr(vector, name) for name in names]


def numbers(topic, message):
    """The numbers of a message in the order of its fields, arrays as they come."""
    stamp = [message.header.stamp.sec, message.header.stamp.nanosec]
    if topic == "/imu":
        return (
            stamp,
            xyz(message.orientation, "xyzw"),
            message.orientation_covariance,
            xyz(message.angular_velocity),
            message.angular_velocity_covariance,
            xyz(message.linear_acceleration),
            message.linear_acceleration_covariance,
        )
    if topic == "/joints":
        return stamp, message.position, message.velocity, message.effort
    return stamp, [message.angle_min, message.scan_time], message.ranges


def with_rosbags(folder):
    rows = {topic: [] for topic in NAMES}
    with open(folder / "bag.mcap", "rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            decoded = TYPES.deserialize_cdr(message.data, schema.name)
            rows[channel.topic].append(numbers(channel.topic, decoded))
    return rows


def with_mcap(folder):
    rows = {topic: [] for topic in NAMES}
    with open(folder / "bag.mcap", "rb") as file:
        for _, channel, _, decoded in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            rows[channel.topic].append(numbers(channel.topic, decoded))
    return rows


def with_database(folder):
    rows = {topic: [] for topic in NAMES}
    database = sqlite3.connect(folder / "bag.db3")
    topics = dict(database.execute("SELECT id, name FROM topics"))
    for topic, _, data in database.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp"):
        name = topics[topic]
        rows[name].append(numbers(name, TYPES.deserialize_cdr(data, NAMES[name])))
    database.close()
    return rows


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder)
    version = importlib.metadata.version
    print("ready", f"rosbags {version('rosbags')}, mcap {version('mcap')}", flush=True)
    passes_of = {"rosbags": with_rosbags, "mcap": with_mcap, "db3": with_database}
    for line in sys.stdin:
        command, *arguments = line.split()
        if command in passes_of:
            passes = int(arguments[0])
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(passes):
                passes_of[command](folder)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(repr(wall / passes), repr(cpu / passes), flush=True)
        elif command == "result":
            rows = with_rosbags(folder)
            tables = [np.array([np.concatenate(row) for row in rows[topic]]) for topic in ("/imu", "/joints")]
            # One row after the other, as a plain loop adds them.
            sums = [np.cumsum(table, axis=0)[-1] for table in tables]
            print(*(repr(float(value)) for value in np.concatenate(sums)), flush=True)
        else:
            sys.exit(f"bags.py: unknown command {command!r}")


if __name__ == "__main__":
    main()
